// eigvalsh: the eigenvalues of symmetric matrices
#include "ops/family/symmetric_eigen.h"

namespace paddle_mini {
namespace {

template <class T>
struct EigvalshGradKernel : Kernel {
  In<T> vectors;
  In<real_part_of<T>> values_gradient;
  Out<T> x_gradient;
  Matrices matrices;

  explicit EigvalshGradKernel(KernelInit& init)
      : vectors(init, "Eigenvectors"), values_gradient(init, "Eigenvalues@GRAD"), x_gradient(init, "X@GRAD"),
        matrices(vectors.shape()) {}

  void run(KernelContext& context) override {
    int64_t n = matrices.rows, size = matrices.size();
    each_item(context, matrices.loop(), [&](int64_t i) {
      const T* v = vectors.data() + i * size;
      std::vector<T> scaled(v, v + size);
      for (int64_t k = 0; k < size; ++k) {
        T& element = scaled[static_cast<size_t>(k)];
        element = element * values_gradient[i * n + k % n];
      }
      multiply(scaled.data(), v, n, n, n, {false, true}, T(1), x_gradient.data() + i * size);
    });
  }
};

}  // namespace

void define_eigvalsh(OpTable& ops) {
  ops.add(symmetric_eigen_schema("eigvalsh")
              .doc("The eigenvalues of each symmetric matrix of X. Only one triangle of X is read.")
              .attr("is_test", false, "not read: whether there is no gradient, which needs Eigenvectors")
              .output("Eigenvectors", "shape of X")
              .gradient("eigvalsh_grad", {"Eigenvectors", "Eigenvalues@GRAD"}, {"X@GRAD"})
              .kernels<SymmetricEigenKernel, float, double, Complex<float>, Complex<double>>());
  ops.add(ops.gradient_of("eigvalsh")
              .doc("With V = Eigenvectors: X@GRAD = V diagonal(Eigenvalues@GRAD) V^T, with conjugates if they are "
                   "complex. It counts both triangles of X.")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_square(c, "Eigenvectors");
                require_real_values(c, {"Eigenvalues@GRAD"});
                Shape wanted = eigenvalues_shape(c.shape("Eigenvectors"));
                require<ShapeError>(shapes_agree(c.shape("Eigenvalues@GRAD"), wanted), "Eigenvalues@GRAD has shape ",
                                    c.shape("Eigenvalues@GRAD").str(), ", Eigenvectors ",
                                    c.shape("Eigenvectors").str());
                c.set_output("X@GRAD", c.input("Eigenvectors"));
              })
              .kernels<EigvalshGradKernel, float, double, Complex<float>, Complex<double>>());
}

}  // namespace paddle_mini

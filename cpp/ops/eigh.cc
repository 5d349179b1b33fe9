// eigh: the eigenvalues and eigenvectors of symmetric matrices
#include "math/cpu/matrix_functions.h"
#include "ops/family/symmetric_eigen.h"

namespace paddle_mini {
namespace {

template <class T>
struct EighGradKernel : Kernel {
  using Real = real_part_of<T>;
  In<Real> values, values_gradient;
  In<T> vectors, vectors_gradient;
  Out<T> x_gradient;
  Matrices matrices;

  explicit EighGradKernel(KernelInit& init)
      : values(init, "Eigenvalues"), values_gradient(init, "Eigenvalues@GRAD"), vectors(init, "Eigenvectors"),
        vectors_gradient(init, "Eigenvectors@GRAD"), x_gradient(init, "X@GRAD"), matrices(vectors.shape()) {}

  void run(KernelContext& context) override {
    int64_t n = matrices.rows, size = matrices.size();
    each_item(context, matrices.loop(), [&](int64_t i) {
      const T* v = vectors.data() + i * size;
      const Real* w = values.data() + i * n;
      std::vector<T> middle(static_cast<size_t>(size)), left(middle.size());
      multiply(v, vectors_gradient.data() + i * size, n, n, n, {true, false}, T(1), middle.data());
      for (int64_t row = 0; row < n; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          // Elements (row, column) and (column, row) are read before either is written.
          T &one = middle[static_cast<size_t>(row * n + column)],
            &other = middle[static_cast<size_t>(column * n + row)];
          if (row == column) one = T(values_gradient[i * n + row]);
          if (row >= column) continue;
          one = w[column] == w[row] ? T(0) : (one - conj(other)) / (2 * (w[column] - w[row]));
          other = conj(one);
        }
      }
      multiply(v, middle.data(), n, n, n, {}, T(1), left.data());
      multiply(left.data(), v, n, n, n, {false, true}, T(1), x_gradient.data() + i * size);
    });
  }
};

}  // namespace

void define_eigh(OpTable& ops) {
  ops.add(symmetric_eigen_schema("eigh")
              .doc("The eigenvalues of each symmetric matrix of X, and in the columns of Eigenvectors orthonormal "
                   "vectors with X v = w v. Only one triangle of X is read. The sign of a vector is not defined.")
              .output("Eigenvectors", "shape of X")
              .gradient("eigh_grad", {"Eigenvalues", "Eigenvectors", "Eigenvalues@GRAD", "Eigenvectors@GRAD"},
                        {"X@GRAD"})
              .kernels<SymmetricEigenKernel, float, double, Complex<float>, Complex<double>>());
  ops.add(ops.gradient_of("eigh")
              .doc("With V = Eigenvectors and w = Eigenvalues: X@GRAD = V (diagonal(Eigenvalues@GRAD) + E (S - S^T) "
                   "/ 2) V^T with S = V^T Eigenvectors@GRAD, transposed with conjugates if they are complex, where the "
                   "product with E, 1 / (w[j] - w[i]), is of elements; "
                   "for equal eigenvalues it is 0. It is symmetric, and counts both triangles of X.")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_square(c, "Eigenvectors");
                require_same_shape(c, "Eigenvectors", "Eigenvectors@GRAD");
                require_same_shape(c, "Eigenvalues", "Eigenvalues@GRAD");
                require_real_values(c, {"Eigenvalues", "Eigenvalues@GRAD"});
                Shape wanted = eigenvalues_shape(c.shape("Eigenvectors"));
                require<ShapeError>(shapes_agree(c.shape("Eigenvalues"), wanted), "Eigenvalues has shape ",
                                    c.shape("Eigenvalues").str(), ", Eigenvectors ", c.shape("Eigenvectors").str());
                c.set_output("X@GRAD", c.input("Eigenvectors"));
              })
              .dtype_from_input("Eigenvectors")
              .kernels<EighGradKernel, float, double, Complex<float>, Complex<double>>());
}

}  // namespace paddle_mini

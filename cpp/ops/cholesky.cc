// cholesky: Out = L, lower triangular with L L^T = X
#include "math/cpu/matrix_functions.h"
#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

template <class T>
struct CholeskyKernel : Kernel {
  In<T> x;
  Out<T> out;
  Matrices matrices;
  bool upper;
  Scratch<T> factors;  // because a matrix may be refused, and nothing is written before

  explicit CholeskyKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), matrices(x.shape()), upper(init.attr<bool>("upper")), factors(init, x.numel()) {
  }

  void run(KernelContext& context) override {
    int64_t size = matrices.size();
    require_each(context, matrices, "X", "is not positive definite", [&](int64_t i) {
      return cholesky_factor(x.data() + i * size, matrices.rows, upper, factors.data() + i * size);
    });
    std::copy_n(factors.data(), x.numel(), out.data());
  }
};

template <class T>
struct CholeskyGradKernel : Kernel {
  In<T> out, out_gradient;
  Out<T> x_gradient;
  Matrices matrices;
  bool upper;

  explicit CholeskyGradKernel(KernelInit& init)
      : out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), matrices(out.shape()),
        upper(init.attr<bool>("upper")) {}

  void run(KernelContext& context) override {
    each_item(context, matrices.loop(), [&](int64_t i) {
      int64_t at = i * matrices.size();
      cholesky_gradient(out.data() + at, out_gradient.data() + at, matrices.rows, upper, x_gradient.data() + at);
    });
  }
};

}  // namespace

void define_cholesky(OpTable& ops) {
  ops.add(
      OpSchema("cholesky")
          .doc("Out = the lower triangular L with L L^T = X, or with `upper` U with U^T U = X, of each matrix of X. "
               "Only this triangle of X is read. A matrix that is not positive definite is an error.")
          .attr("upper", false, "whether Out is upper triangular")
          .input("X", "[..., n, n], symmetric and positive definite")
          .output("Out", "shape of X")
          .infer([](InferContext& c) {
            require_tensors(c);
            require_square(c, "X");
            c.set_output("Out", c.input("X"));
          })
          .gradient("cholesky_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
          .checks_data()
          .cpu_only("its decomposition is a sequence of small steps")
          .kernels<CholeskyKernel, float, double>());
  ops.add(ops.gradient_of("cholesky")
              .doc("X@GRAD = Out^-T (S + S^T) Out^-1 / 2 with S = the lower triangle of Out^T Out@GRAD, half of its "
                   "diagonal: "
                   "the symmetric gradient, which counts both triangles of X.")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_square(c, "Out");
                require_same_dtype(c, "Out", "Out@GRAD");
                require_same_shape(c, "Out", "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out"));
              })
              .kernels<CholeskyGradKernel, float, double>());
}

}  // namespace paddle_mini

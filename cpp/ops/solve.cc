// solve: Out = X^-1 Y
#include "ops/family/linear_system.h"

namespace paddle_mini {
namespace {

struct GeneralSystem {
  static constexpr const char *kMatrices = "X", *kSides = "Y";
  static constexpr bool kTakesVectors = true;

  explicit GeneralSystem(const KernelInit&) {}

  template <class T>
  bool solve(const T* x, const SystemShapes& shapes, const T* y, bool transposed, T* out) const {
    return solve_system(x, shapes.n, y, shapes.columns, transposed, out);
  }
  template <class T>
  void x_gradient(const T*, const SystemShapes& shapes, const T* y_gradient, const T* out, T* to) const {
    multiply(y_gradient, out, shapes.n, shapes.columns, shapes.n, {false, true}, T(-1), to);
  }
};

}  // namespace

void define_solve(OpTable& ops) {
  ops.add(
      linear_system("solve", true)
          .doc(
              "Out = the solution of X Out = Y for each pair of matrices, or of a matrix and a vector. A singular X is "
              "an error.")
          .kernels<SystemKernel<GeneralSystem>::For, float, double>());
  ops.add(linear_system_gradient(ops, "solve", true)
              .doc("Y@GRAD = X^-T Out@GRAD, X@GRAD = -Y@GRAD Out^T, each summed over the axes it was broadcast along.")
              .kernels<SystemGradKernel<GeneralSystem>::For, float, double>());
}

}  // namespace paddle_mini

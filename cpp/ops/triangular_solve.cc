// triangular_solve: Out = X^-1 Y for a triangular X
#include "ops/family/linear_system.h"

namespace paddle_mini {
namespace {

struct TriangularSystem {
  static constexpr const char *kMatrices = "X", *kSides = "Y";
  static constexpr bool kTakesVectors = false;
  Triangle triangle;

  explicit TriangularSystem(const KernelInit& init)
      : triangle{init.attr<bool>("upper"), init.attr<bool>("transpose"), init.attr<bool>("unitriangular")} {}

  template <class T>
  bool solve(const T* x, const SystemShapes& shapes, const T* y, bool transposed, T* out) const {
    Triangle read = triangle;
    read.transposed = read.transposed != transposed;
    return solve_triangle(x, shapes.n, y, shapes.columns, read, out);
  }
  template <class T>
  void x_gradient(const T*, const SystemShapes& shapes, const T* y_gradient, const T* out, T* to) const {
    int64_t n = shapes.n;
    const T *left = triangle.transposed ? out : y_gradient, *right = triangle.transposed ? y_gradient : out;
    multiply(left, right, n, shapes.columns, n, {false, true}, T(-1), to);
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t column = 0; column < n; ++column) {
        bool is_read = row == column ? !triangle.unit : triangle.upper == (row < column);
        if (!is_read) to[row * n + column] = T(0);
      }
    }
  }
};

}  // namespace

void define_triangular_solve(OpTable& ops) {
  ops.add(
      linear_system("triangular_solve", false)
          .attr("upper", true, "whether the upper triangle of X is read, or the lower one")
          .attr("transpose", false, "whether X^T Out = Y is solved")
          .attr("unitriangular", false, "whether the diagonal of X is taken as ones, and not read")
          .doc("Out = the solution of X Out = Y for each pair of matrices, with one triangle of X. A 0 in the diagonal "
               "of X is an error.")
          .kernels<SystemKernel<TriangularSystem>::For, float, double>());
  ops.add(
      linear_system_gradient(ops, "triangular_solve", false)
          .doc("Y@GRAD = X^-T Out@GRAD, X@GRAD = the triangle of -Y@GRAD Out^T that is read; with `transpose` X^T in "
               "place of X. Each is summed over the axes it was broadcast along.")
          .kernels<SystemGradKernel<TriangularSystem>::For, float, double>());
}

}  // namespace paddle_mini

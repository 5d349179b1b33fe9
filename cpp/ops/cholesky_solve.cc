// cholesky_solve: Out = A^-1 X for the factor Y of A
#include "ops/family/linear_system.h"

namespace paddle_mini {
namespace {

struct CholeskySystem {
  static constexpr const char *kMatrices = "Y", *kSides = "X";
  static constexpr bool kTakesVectors = false;
  bool upper;

  explicit CholeskySystem(const KernelInit& init) : upper(init.attr<bool>("upper")) {}

  template <class T>
  bool solve(const T* factor, const SystemShapes& shapes, const T* side, bool, T* out) const {
    int64_t n = shapes.n;
    std::vector<T> between(static_cast<size_t>(n * shapes.columns));
    return solve_triangle(factor, n, side, shapes.columns, {upper, upper, false}, between.data()) &&
           solve_triangle(factor, n, between.data(), shapes.columns, {upper, !upper, false}, out);
  }
  // With S = the gradient of A + its transpose: the lower triangle of S L, or the upper one of U S.
  template <class T>
  void x_gradient(const T* factor, const SystemShapes& shapes, const T* side_gradient, const T* out, T* to) const {
    int64_t n = shapes.n;
    std::vector<T> a(static_cast<size_t>(n * n)), sum(a.size()), triangle(a.size());
    multiply(side_gradient, out, n, shapes.columns, n, {false, true}, T(-1), a.data());
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t column = 0; column < n; ++column) {
        auto at = static_cast<size_t>(row * n + column);
        sum[at] = a[at] + a[static_cast<size_t>(column * n + row)];
        if (row == column || upper == (row < column)) triangle[at] = factor[at];  // the rest of Y is not read
      }
    }
    if (upper) multiply(triangle.data(), sum.data(), n, n, n, {}, T(1), to);
    else multiply(sum.data(), triangle.data(), n, n, n, {}, T(1), to);
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t column = 0; column < n; ++column) {
        if (row != column && upper != (row < column)) to[row * n + column] = T(0);
      }
    }
  }
};

Shape cholesky_solution_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  require_square(c, "Y");
  const Shape &x = c.shape("X"), &y = c.shape("Y");
  require<ShapeError>(x.rank() >= 2, "X has shape ", x.str(), ", it must have at least 2 dimensions");
  int64_t rows = x[x.rank() - 2], n = y[y.rank() - 1];
  require<ShapeError>(dims_agree(rows, n), "Y has shape ", y.str(), ", X has ", x.str(), ": ", rows, " rows, not ", n);
  return SystemShapes(y, x, false).out;
}

}  // namespace

void define_cholesky_solve(OpTable& ops) {
  ops.add(OpSchema("cholesky_solve")
              .doc("Out = the solution of L L^T Out = X for each pair of matrices, with L = Y, or of U^T U Out = X "
                   "with U = Y "
                   "for `upper`. Only this triangle of Y is read. A 0 in its diagonal is an error.")
              .attr("upper", false, "whether Y is upper triangular")
              .input("X", "[..., n, m]")
              .input("Y", "[..., n, n], Out of cholesky")
              .output("Out", "[..., n, m]; the axes before them are broadcast")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, cholesky_solution_shape(c)); })
              .gradient("cholesky_solve_grad", {"X", "Y", "Out", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .checks_data()
              .cpu_only("its decomposition is a sequence of small steps")
              .kernels<SystemKernel<CholeskySystem>::For, float, double>());
  ops.add(
      ops.gradient_of("cholesky_solve")
          .doc("X@GRAD = (L L^T)^-1 Out@GRAD, Y@GRAD = the lower triangle of (A + A^T) L with A = -X@GRAD Out^T; for "
               "`upper` the upper one of U (A + A^T). Each is summed over the axes it was broadcast along.")
          .infer([](InferContext& c) {
            Shape out = cholesky_solution_shape(c);
            require<ShapeError>(shapes_agree(out, c.shape("Out@GRAD")), "Out@GRAD has shape ",
                                c.shape("Out@GRAD").str(), ", Out has ", out.str());
            require_same_shape(c, "Out", "Out@GRAD");
            gradients_like_inputs(c);
          })
          .shape_only("X")
          .checks_data()
          .kernels<SystemGradKernel<CholeskySystem>::For, float, double>());
}

}  // namespace paddle_mini

// lstsq: the Solution of least norm that minimizes the squared distance of X Solution and Y
#include <limits>

#include "math/cpu/matrix_functions.h"
#include "math/cpu/singular_values.h"
#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

// Which outputs a driver of LAPACK gives: gels neither ranks nor singular values, and refuses matrices without full rank.
struct LstsqOutputs {
  bool rank, values;

  template <class Context>
  explicit LstsqOutputs(const Context& c) {
    const auto& driver = c.template attr<std::string>("driver");
    rank = driver != "gels", values = driver == "gelsd" || driver == "gelss";
  }
};

// Solution = V S^-1 U^T Y, over the singular values that are not negligible.
template <class T>
struct LstsqKernel : Kernel {
  In<T> x, y;
  Out<T> solution, residuals, singular_values;
  Out<int32_t> rank;
  Matrices matrices;
  int64_t sides, k;
  LstsqOutputs outputs;
  T share;  // singular values up to this share of the greatest are negligible
  Scratch<T> found, values;  // because a matrix may be refused, and nothing is written before
  Scratch<int32_t> ranks;

  explicit LstsqKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), solution(init, "Solution"), residuals(init, "Residuals", optional_port),
        singular_values(init, "SingularValues"), rank(init, "Rank"), matrices(x.shape()),
        sides(y.shape()[y.shape().rank() - 1]), k(std::min(matrices.rows, matrices.columns)), outputs(init),
        share(static_cast<T>(init.attr<float>("rcond"))), found(init, solution.numel()),
        values(init, matrices.count * k), ranks(init, matrices.count) {
    if (!outputs.rank || share < T(0)) share = std::numeric_limits<T>::epsilon();
  }

  void run(KernelContext& context) override {
    auto solve = [&](int64_t i) { return solve_one(x.data() + i * matrices.size(), i); };
    require_each(context, matrices, "X", "or its Y has elements that are not finite", solve);
    for (int64_t i = 0; i < matrices.count && !outputs.rank; ++i) {
      require<OpError>(ranks[i] == k, "matrix ", i, " of X has rank ", ranks[i], ", driver gels needs ", k,
                       ": take gelsd, which finds the solution of least norm");
    }
    std::copy_n(found.data(), found.numel(), solution.data());
    if (outputs.rank) std::copy_n(ranks.data(), rank.numel(), rank.data());
    if (outputs.values) std::copy_n(values.data(), singular_values.numel(), singular_values.data());
    if (!residuals || matrices.rows <= matrices.columns) return;
    each_item(context, matrices.loop(), [&](int64_t i) { write_residuals(i); });
  }

  bool solve_one(const T* a, int64_t i) {
    int64_t m = matrices.rows, n = matrices.columns;
    std::vector<T> u(static_cast<size_t>(m * k)), vh(static_cast<size_t>(k * n)),
        turned(static_cast<size_t>(k * sides));
    const T* right = y.data() + i * m * sides;
    T *s = values.data() + i * k, *to = found.data() + i * n * sides;
    if (!std::all_of(right, right + m * sides, [](T value) { return std::isfinite(value); })) return false;
    if (!singular_decomposition(a, m, n, false, u.data(), s, vh.data())) return false;
    ranks[i] = static_cast<int32_t>(std::count_if(s, s + k, [&](T value) { return value > share * s[0]; }));
    std::fill_n(to, n * sides, T(0));
    if (turned.empty() || n == 0) return true;
    multiply(u.data(), right, k, m, sides, {true, false}, T(1), turned.data());
    for (int64_t row = 0; row < k; ++row) {
      for (int64_t column = 0; column < sides; ++column) {
        T& element = turned[static_cast<size_t>(row * sides + column)];
        element = row < ranks[i] ? element / s[row] : T(0);
      }
    }
    multiply(vh.data(), turned.data(), n, k, sides, {true, false}, T(1), to);
    return true;
  }

  // The sums of squares of Y - X Solution.
  void write_residuals(int64_t i) {
    int64_t m = matrices.rows, n = matrices.columns;
    std::vector<T> near(static_cast<size_t>(m * sides));
    if (n > 0 && !near.empty()) {
      multiply(x.data() + i * m * n, found.data() + i * n * sides, m, n, sides, {}, T(1), near.data());
    }
    T* to = residuals.data() + i * sides;
    std::fill_n(to, sides, T(0));
    for (int64_t at = 0; at < m * sides; ++at) {
      T distance = y[i * m * sides + at] - near[static_cast<size_t>(at)];
      to[at % sides] += distance * distance;
    }
  }
};

void infer_lstsq(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  require_matrices(c, "X");
  const Shape &x = c.shape("X"), &y = c.shape("Y");
  Shape batch = batch_of(x);
  int64_t m = x[x.rank() - 2], n = x[x.rank() - 1], sides = y.rank() < 2 ? -1 : y[y.rank() - 1];
  require<ShapeError>(y.rank() == x.rank() && shapes_agree(matrices_shape(batch, m, sides), y), "Y has shape ", y.str(),
                      ", with X of shape ", x.str(), " it must be ", matrices_shape(batch, m, -1).str());
  LstsqOutputs outputs(c);
  DType dtype = c.input("X").dtype;
  Shape residuals = batch, values = batch;
  residuals.push_back(sides);
  values.push_back(m < 0 || n < 0 ? -1 : std::min(m, n));
  if (m >= 0 && n >= 0 && m <= n) residuals = Shape{0};
  c.set_output("Solution", dtype, matrices_shape(batch, n, sides));
  c.set_output("Residuals", dtype, residuals);
  c.set_output("Rank", DType::Int32, outputs.rank ? batch : Shape{0});
  c.set_output("SingularValues", dtype, outputs.values ? values : Shape{0});
}

}  // namespace

void define_lstsq(OpTable& ops) {
  ops.add(
      OpSchema("lstsq")
          .doc("Solution = V S^-1 U^T Y with the singular values S of X: for each pair of matrices the solution of "
               "least "
               "norm that minimizes the squares of X Solution - Y. All drivers take the same path; they differ in "
               "their outputs, and gels refuses a matrix without full rank.")
          .input("X", "[..., m, n]")
          .input("Y", "[..., m, right sides], with the axes of X before them")
          .output("Solution", "[..., n, right sides]")
          .optional_output("Residuals", "[..., right sides]: the sums of squares of X Solution - Y; [0] unless m > n")
          .output("Rank", "int32, the axes before the matrices; [0] for gels")
          .output("SingularValues", "[..., min(m, n)], descending; [0] for gels and gelsy")
          .attr(
              "rcond", 0.0f,
              "singular values of at most so much times the greatest count as 0; negative: times the distance of 1 to "
              "the next number; ignored by gels")
          .attr("driver", "gels", "the function of LAPACK that PaddlePaddle calls",
                one_of({"gels", "gelsy", "gelsd", "gelss"}))
          .infer(infer_lstsq)
          .custom_lod()
          .no_gradient("PaddlePaddle has none either; qr and triangular_solve have gradients")
          .checks_data()
          .cpu_only("its decomposition is a sequence of small steps")
          .kernels<LstsqKernel, float, double>());
}

}  // namespace paddle_mini

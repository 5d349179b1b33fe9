// logcumsumexp: Out[j] = log of the sum of exp(X) up to j along an axis
#include <cmath>
#include <limits>

#include "math/axis_lines.h"
#include "math/axis_index_map.h"

namespace paddle_mini {
namespace {

// The lines along the axis, and the order in which their elements are visited.
struct OrderedLines {
  AxisLines lines;
  bool exclusive, reverse;

  OrderedLines(const KernelInit& init, const Shape& x)
      : exclusive(init.attr<bool>("exclusive")), reverse(init.attr<bool>("reverse")) {
    if (init.attr<bool>("flatten")) lines.length = x.numel();
    else lines = AxisLines(x, init.attr<int32_t>("axis"));
  }
  int64_t at(int64_t begin, int64_t j) const { return begin + (reverse ? lines.length - 1 - j : j) * lines.inner; }
};

// A sum of w exp(e), stored as total exp(largest), so that no exponential overflows.
struct ScaledSum {
  double total, largest;

  PM_HD static ScaledSum nothing() { return {0, -std::numeric_limits<double>::infinity()}; }

  PM_HD void add(double w, double e) {
    if (e == -std::numeric_limits<double>::infinity()) return;
    if (e > largest) total *= std::exp(largest - e), largest = e;
    total += e == largest ? w : w * std::exp(e - largest);
  }
};

// The logarithm of an empty sum, used instead of -inf.
template <class T>
constexpr T kNothing = std::numeric_limits<T>::lowest();

template <class T>
PM_HD T times_exp(const ScaledSum& sum, double one) {
  return sum.total == 0 || std::isinf(one) ? T(0) : static_cast<T>(sum.total * std::exp(sum.largest + one));
}

template <class T>
struct LogcumsumexpKernel : Kernel {
  In<T> x;
  Out<T> out;
  OrderedLines index_map;

  explicit LogcumsumexpKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), index_map(init, x.shape()) {}

  void run(KernelContext& context) override;
};

// X@GRAD[i] = sum of Out@GRAD[j] exp(X[i] - Out[j]) over the j whose sums include X[i]. Where Out is infinite or the
// lowest number, the sum includes no elements except infinite ones, whose gradient is 0.
template <class T>
struct LogcumsumexpGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  OrderedLines index_map;

  explicit LogcumsumexpGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        index_map(init, x.shape()) {}

  void run(KernelContext& context) override;
};

Shape logcumsumexp_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  if (c.attr<bool>("flatten")) return {x.numel(0, x.rank())};
  check_axis(x, c.attr<int32_t>("axis"));
  return x;
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(logcumsumexp)

namespace paddle_mini {

void define_logcumsumexp(OpTable& ops) {
  ops.add(OpSchema("logcumsumexp")
              .doc("Out[j] = log(exp(X[0]) + ... + exp(X[j])) along the axis; for an empty sum, the lowest number.")
              .attr("axis", -1, "the axis; negative ones count from the end")
              .attr("flatten", false, "whether X is flattened first; then `axis` is not used")
              .attr("exclusive", false, "whether a sum excludes its own element")
              .attr("reverse", false, "whether the sums start at the end")
              .input("X", "any shape")
              .output("Out", "shape of X; one dimension if flatten")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, logcumsumexp_shape(c)); })
              .gradient("logcumsumexp_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<LogcumsumexpKernel, float, double>());
  ops.add(ops.gradient_of("logcumsumexp")
              .doc("X@GRAD[i] = the sum of Out@GRAD[j] exp(X[i] - Out[j]) over the sums j with X[i].")
              .kernels<LogcumsumexpGradKernel, float, double>());
}

}  // namespace paddle_mini

// logsumexp: Out = log of the sum of exp(X) over some axes
#include <cmath>

#include "ops/family/extremes.h"
#include "math/for_each_index.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class Context>
std::vector<bool> logsumexp_axes(const Context& c, const Shape& x) {
  const auto& axis = c.template attr<std::vector<int32_t>>("axis");
  return reduced_axes(x.rank(), axis, c.template attr<bool>("reduce_all"));
}

struct LargestOf {
  template <class T>
  PM_HD T operator()(T a, T b) const {
    return maximum(a, b);
  }
};
struct ZeroIfInfinite {
  template <class V>
  PM_HD V operator()(V v) const {
    return select(abs(v) == V(std::numeric_limits<number_of<V>>::infinity()), V(0), v);
  }
};
struct ExpApart {
  template <class T>
  PM_HD double operator()(T x, T largest) const {
    return std::exp(x - largest);
  }
};
template <class T>
struct LogOfSum {
  const T* largest;
  const double* sums;
  T* out;
  PM_HD void operator()(int64_t i) const { out[i] = static_cast<T>(largest[i] + std::log(sums[i])); }
};
struct SlopeOfLog {
  template <class T>
  PM_HD T operator()(T x, T out, T gradient) const {
    return gradient * std::exp(x - out);
  }
};

// The largest element is factored out of the sum to prevent overflow, unless it is infinite.
template <class T>
struct LogsumexpKernel : Kernel {
  In<T> x;
  Out<T> out;
  AxisFolds folds;
  Scratch<T> largest;
  Scratch<double> sums;

  explicit LogsumexpKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), folds(x.shape(), logsumexp_axes(init, x.shape())), largest(init, out.numel()),
        sums(init, out.numel()) {}

  void run(KernelContext& context) override {
    int64_t n = out.numel();
    const T* top = largest.data();
    folds.fold(context, Itself{}, LargestOf{}, -std::numeric_limits<T>::infinity(), largest.data(), x.data());
    map(context, n, ZeroIfInfinite{}, largest.data(), top);
    folds.fold(context, ExpApart{}, Plus{}, 0.0, sums.data(), x.data(), top);
    for_each_index(context, n, LogOfSum<T>{top, sums.data(), out.data()});
  }
};

template <class T>
struct LogsumexpGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  AxisFolds folds;

  explicit LogsumexpGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        folds(x.shape(), logsumexp_axes(init, x.shape())) {}

  void run(KernelContext& context) override {
    folds.map(context, SlopeOfLog{}, x_gradient.data(), x.data(), out.data(), out_gradient.data());
  }
};

Shape logsumexp_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  return reduced_shape(x, logsumexp_axes(c, x), c.attr<bool>("keepdim"));
}

}  // namespace

void define_logsumexp(OpTable& ops) {
  ops.add(OpSchema("logsumexp")
              .doc("Out = log of the sum of exp(X) over the axes in `axis`; -inf for an empty sum.")
              .attr("axis", std::vector<int32_t>{0}, "the axes to sum over; empty: all")
              .attr("keepdim", false, "whether a reduced axis stays as a dimension of 1")
              .attr("reduce_all", false, "whether all axes are reduced; then `axis` is not used")
              .input("X", "any shape")
              .output("Out", "X's shape without the reduced axes")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, logsumexp_shape(c)); })
              .gradient("logsumexp_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<LogsumexpKernel, float, double>());
  ops.add(ops.gradient_of("logsumexp")
              .doc("X@GRAD = Out@GRAD exp(X - Out).")
              .kernels<LogsumexpGradKernel, float, double>());
}

}  // namespace paddle_mini

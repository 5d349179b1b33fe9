// logsumexp: Out = log of the sum of exp(X) over some axes
#include <cmath>

#include "math/extremes.h"

namespace paddle_mini {
namespace {

template <class Context>
std::vector<bool> axes_of(const Context& c, const Shape& x) {
  const auto& axis = c.template attr<std::vector<int32_t>>("axis");
  return reduced_axes(x.rank(), axis, c.template attr<bool>("reduce_all"));
}

// The largest element is taken out of the sum, which then can't overflow; where it is infinite, nothing is.
template <class T>
struct LogsumexpKernel : Kernel {
  In<T> x;
  Out<T> out;
  AxisLoop loop;
  Scratch<T> largest;
  Scratch<double> sums;

  explicit LogsumexpKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), loop(fold_walks(x.shape(), axes_of(init, x.shape()))),
        largest(init, out.numel()), sums(init, out.numel()) {}

  void run(Device&) override {
    int64_t n = out.numel(), block = loop.block();
    std::fill_n(largest.data(), n, -std::numeric_limits<T>::infinity());
    loop.fold([](T a, T b) { return maximum(a, b); }, x.data(), largest.data());
    for (int64_t i = 0; i < n; ++i) largest[i] = std::isinf(largest[i]) ? T(0) : largest[i];
    std::fill_n(sums.data(), n, 0.0);
    loop.each_block([&](int64_t at, int64_t to) {
      for (int64_t i = 0; i < block; ++i) sums[to + i] += std::exp(x[at + i] - largest[to + i]);
    });
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(largest[i] + std::log(sums[i]));
  }
};

template <class T>
struct LogsumexpGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  AxisLoop loop;

  explicit LogsumexpGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        loop(fold_walks(x.shape(), axes_of(init, x.shape()))) {}

  void run(Device&) override {
    int64_t block = loop.block();
    loop.each_block([&](int64_t at, int64_t from) {
      for (int64_t i = 0; i < block; ++i) {
        x_gradient[at + i] = out_gradient[from + i] * std::exp(x[at + i] - out[from + i]);
      }
    });
  }
};

Shape out_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  return reduced_shape(x, axes_of(c, x), c.attr<bool>("keepdim"));
}

OpSpec with_attributes(OpSpec spec) {
  return spec.attr("axis", std::vector<int32_t>{0}, "the axes to sum over; empty: all")
      .attr("keepdim", false, "whether a reduced axis stays, with one element")
      .attr("reduce_all", false, "whether all axes are reduced, whatever `axis` says");
}

}  // namespace

void define_logsumexp(OpTable& ops) {
  ops.add(with_attributes(OpSpec("logsumexp"))
              .doc("Out = log of the sum of exp(X) over the axes in `axis`; -inf where nothing is added.")
              .input("X", "any shape")
              .output("Out", "X's shape without the reduced axes")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, out_shape(c)); })
              .gradient("logsumexp_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .kernels<LogsumexpKernel, float, double>());
  ops.add(with_attributes(OpSpec("logsumexp_grad"))
              .doc("X@GRAD = Out@GRAD exp(X - Out).")
              .input("X", "as in logsumexp")
              .input("Out", "of logsumexp")
              .input("Out@GRAD", "shape of Out")
              .output("X@GRAD", "shape of X")
              .infer([](InferContext& c) {
                require_like_out(c, "X", out_shape(c));
                require_same_dtype(c, "X", "Out");
                require_same_shape(c, "Out", "Out@GRAD");
                c.set_output("X@GRAD", c.input("X"));
              })
              .kernels<LogsumexpGradKernel, float, double>());
}

}  // namespace paddle_mini

// log_softmax: Out = X - log(sum of exp(X) along an axis)
#include "core/op_table.h"
#include "core/parallel.h"
#include "math/map.h"
#include "ops/family/axis_function.h"

namespace paddle_mini {
namespace {

// Views a tensor as [outer, size, inner] around the axis. A scalar counts as one axis, which may be called -1 or 0.
struct LogSoftmaxAround {
  int64_t outer = 1, size = 1, inner = 1;

  LogSoftmaxAround(const Shape& x, int32_t axis) {
    int at = normal_axis(axis, std::max(x.rank(), 1), "axis");
    if (x.rank() == 0) return;
    outer = x.numel(0, at), size = x[at], inner = x.numel(at + 1, x.rank());
    if (size == 0) outer = 0;
  }
};

// Subtracts the largest element first, so that exp never overflows.
template <class T>
struct LogSoftmaxKernel : Kernel {
  In<T> x;
  Out<T> out;
  LogSoftmaxAround a;
  LaneScratch<T> largest, sums;  // on a CPU

  explicit LogSoftmaxKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), a(x.shape(), init.attr<int32_t>("axis")), largest(init, kOnGpu ? 0 : a.inner),
        sums(init, kOnGpu ? 0 : a.inner) {}

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  void row(KernelContext& context, const T* from, T* to);
  void columns(KernelContext& context, const T* from, T* to, int lane);
};

template <class T>
struct LogSoftmaxGradKernel : Kernel {
  In<T> out, out_gradient;
  Out<T> x_gradient;
  LogSoftmaxAround a;
  LaneScratch<T> sums;  // on a CPU

  explicit LogSoftmaxGradKernel(KernelInit& init)
      : out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        a(out.shape(), init.attr<int32_t>("axis")), sums(init, kOnGpu ? 0 : a.inner) {}

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  void columns(KernelContext& context, const T* y, const T* g, T* to, int lane);
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(log_softmax)

namespace paddle_mini {

void define_log_softmax(OpTable& ops) {
  ops.add(axis_function("log_softmax")
              .doc("Out = X - log(sum of exp(X) along the axis): logarithms of probabilities.")
              .kernels<LogSoftmaxKernel, float, double>());
  ops.add(same_shape_gradient(ops, "log_softmax")
              .doc("X@GRAD = Out@GRAD - exp(Out) (sum of Out@GRAD along the axis).")
              .kernels<LogSoftmaxGradKernel, float, double>());
}

}  // namespace paddle_mini

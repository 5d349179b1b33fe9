// softmax: Out = exp(X) / (sum of exp(X) along an axis)
#include "math/softmax.h"

#include "ops/family/axis_function.h"
#include "ops/family/narrow_kernels.h"
#include "ops/family/narrow_rows.h"

namespace paddle_mini {
namespace {

template <class T>
struct SoftmaxKernel : Kernel {
  In<T> x;
  Out<T> out;
  Softmax softmax;
  Scratch<T> scratch;

  explicit SoftmaxKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), softmax(x.shape(), init.attr<int32_t>("axis")),
        scratch(init, softmax.scratch_count()) {}
  void run(KernelContext& context) override { softmax.run(context, x.data(), out.data(), scratch.data()); }
};

template <class T>
struct SoftmaxGradKernel : Kernel {
  In<T> out, out_gradient;
  Out<T> x_gradient;
  Softmax softmax;
  Scratch<T> scratch;

  explicit SoftmaxGradKernel(KernelInit& init)
      : out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        softmax(out.shape(), init.attr<int32_t>("axis")), scratch(init, softmax.scratch_count()) {}
  void run(KernelContext& context) override {
    softmax.gradient(context, out.data(), out_gradient.data(), x_gradient.data(), scratch.data());
  }
};

}  // namespace

void define_softmax(OpTable& ops) {
  ops.add(with_halves<NarrowRows<SoftmaxKernel>::For>(
      axis_function("softmax")
          .doc("Out = exp(X) / (sum of exp(X) along the axis): positive numbers that sum to 1.")
          .kernels<SoftmaxKernel, float, double>()));
  ops.add(with_halves<NarrowRows<SoftmaxGradKernel>::For>(
      same_shape_gradient(ops, "softmax")
          .doc("X@GRAD = Out (Out@GRAD - sum of Out@GRAD Out along the axis).")
          .kernels<SoftmaxGradKernel, float, double>()));
}

}  // namespace paddle_mini

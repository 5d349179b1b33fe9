// softmax: Out = exp(X) / (sum of exp(X) along an axis)
#include "math/softmax.h"

#include "core/op_table.h"

namespace paddle_mini {
namespace {

// A scalar has one axis, which may be called -1 or 0.
int softmax_axis(int32_t axis, const Shape& x) { return normal_axis(axis, x.rank() ? x.rank() : 1, "axis"); }

template <class T>
struct SoftmaxKernel : Kernel {
  In<T> x;
  Out<T> out;
  Softmax softmax;
  Scratch<T> scratch;

  explicit SoftmaxKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), softmax(x.shape(), softmax_axis(init.attr<int32_t>("axis"), x.shape())),
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
        softmax(out.shape(), softmax_axis(init.attr<int32_t>("axis"), out.shape())),
        scratch(init, softmax.scratch_count()) {}
  void run(KernelContext& context) override {
    softmax.gradient(context, out.data(), out_gradient.data(), x_gradient.data(), scratch.data());
  }
};

}  // namespace

void define_softmax(OpTable& ops) {
  ops.add(OpSchema("softmax")
              .doc("Out = exp(X) / (sum of exp(X) along the axis): positive numbers that sum to 1.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .attr("axis", -1, "the axis; negative ones count from the end")
              .infer([](InferContext& c) {
                require_tensors(c);
                softmax_axis(c.attr<int32_t>("axis"), c.shape("X"));
                c.set_output("Out", c.input("X"));
              })
              .gradient("softmax_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
              .in_place("X", "Out")
              .on_gpu()
              .kernels<SoftmaxKernel, float, double>());
  ops.add(ops.gradient_of("softmax")
              .doc("X@GRAD = Out (Out@GRAD - sum of Out@GRAD Out along the axis).")
              .infer([](InferContext& c) {
                require_tensors(c);
                softmax_axis(c.attr<int32_t>("axis"), c.shape("Out"));
                require_same_dtype(c, "Out", "Out@GRAD");
                require_same_shape(c, "Out", "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out"));
              })
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<SoftmaxGradKernel, float, double>());
}

}  // namespace paddle_mini

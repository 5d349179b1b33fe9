// mean: Out = the mean of all elements of X
#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/copy.h"
#include "math/sum_of.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

template <class T>
struct MeanKernel : Kernel {
  In<T> x;
  Out<T> out;

  explicit MeanKernel(KernelInit& init) : x(init, "X"), out(init, "Out") {}
  void run(KernelContext& context) override {
    sum_of(context, x.numel(), Itself{}, x.data(), out.data(), static_cast<double>(x.numel()));
  }
};

template <class T>
struct Share {
  ScalarArg<T> gradient;
  T count;
  PM_HD Constant<T> bind_scalars() const { return {gradient() / count}; }
};

template <class T>
struct MeanGradKernel : Kernel {
  In<T> x, out_gradient;
  Out<T> x_gradient;

  explicit MeanGradKernel(KernelInit& init)
      : x(init, "X"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
  void run(KernelContext& context) override {
    map(context, x.numel(), Share<T>{out_gradient, static_cast<T>(x.numel())}, x_gradient.data());
  }
};

}  // namespace

void define_mean(OpTable& ops) {
  ops.add(with_complex<MeanKernel>(OpSchema("mean")
                                       .doc("Out = the mean of all elements of X; NaN if there are no elements.")
                                       .input("X", "any shape")
                                       .output("Out", "one element, []")
                                       .infer([](InferContext& c) {
                                         require_tensors(c);
                                         c.set_output("Out", c.input("X").dtype, Shape{});
                                       })
                                       .gradient("mean_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
                                       .on_gpu()
                                       .kernels<MeanKernel, float, double>()));
  ops.add(with_complex<MeanGradKernel>(linear_gradient_of(ops, "mean")
                                           .doc("X@GRAD = Out@GRAD / n, where n is the number of elements of X.")
                                           .shape_only("X")
                                           .kernels<MeanGradKernel, float, double>()));
}

}  // namespace paddle_mini

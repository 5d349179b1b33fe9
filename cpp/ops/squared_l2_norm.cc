// squared_l2_norm: Out = the sum of the squares of X
#include "core/op_table.h"
#include "math/sum_of.h"

namespace paddle_mini {
namespace {

template <class T>
struct Twice {
  ScalarArg<T> factor;
  PM_HD Times<T> bind_scalars() const { return {2 * factor()}; }
};

template <class T>
struct SquaredL2NormKernel : Kernel {
  In<T> x;
  Out<T> out;

  explicit SquaredL2NormKernel(KernelInit& init) : x(init, "X"), out(init, "Out") {}
  void run(KernelContext& context) override { sum_of(context, x.numel(), Squared{}, x.data(), out.data()); }
};

template <class T>
struct SquaredL2NormGradKernel : Kernel {
  In<T> x, out_gradient;
  Out<T> x_gradient;

  explicit SquaredL2NormGradKernel(KernelInit& init)
      : x(init, "X"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
  void run(KernelContext& context) override {
    map(context, x.numel(), Twice<T>{out_gradient}, x_gradient.data(), x.data());
  }
};

}  // namespace

void define_squared_l2_norm(OpTable& ops) {
  ops.add(OpSchema("squared_l2_norm")
              .doc("Out = the sum of the squares of all elements of X.")
              .input("X", "any shape")
              .output("Out", "[1]")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, Shape{1});
              })
              .gradient("squared_l2_norm_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<SquaredL2NormKernel, float, double>());
  ops.add(ops.gradient_of("squared_l2_norm")
              .doc("X@GRAD = 2 X Out@GRAD.")
              .in_place("X", "X@GRAD")
              .kernels<SquaredL2NormGradKernel, float, double>());
}

}  // namespace paddle_mini

// Rounding operators: their gradient is 0 almost everywhere.
#pragma once

#include "math/copy.h"
#include "ops/family/unary.h"

namespace paddle_mini {

template <class T>
struct ZeroGradKernel : Kernel {
  Out<T> x_gradient;

  explicit ZeroGradKernel(KernelInit& init) : x_gradient(init, "X@GRAD") {}
  void run(KernelContext& context) override { fill_n(context, x_gradient.data(), x_gradient.numel(), T(0)); }
};

// Adds an operator, whose schema has neither gradient nor kernels yet, and its gradient, for element types Ts.
template <class F, class... Ts>
void add_rounding(OpTable& ops, OpSchema forward) {
  std::string type = forward.type();
  ops.add(forward.gradient(type + "_grad", {"Out@GRAD"}, {"X@GRAD"})
              .template kernels<UnaryKernel<F>::template For, Ts...>());
  ops.add(ops.gradient_of(type)
              .doc("X@GRAD = 0, because Out is constant almost everywhere.")
              .infer(same_as("Out@GRAD"))
              .in_place("Out@GRAD", "X@GRAD")
              .template kernels<ZeroGradKernel, Ts...>());
}

}  // namespace paddle_mini

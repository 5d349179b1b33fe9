// Operators that round: their gradient is 0 nearly everywhere.
#pragma once

#include "math/copy.h"
#include "ops/family/unary.h"

namespace paddle_mini {

template <class T>
struct ZeroGradKernel : Kernel {
  Out<T> x_gradient;

  explicit ZeroGradKernel(KernelInit& init) : x_gradient(init, "X@GRAD") {}
  void run(Device& device) override { fill_n(device, x_gradient.data(), x_gradient.numel(), T(0)); }
};

// Out@GRAD -> X@GRAD; lacks nothing but kernels.
inline OpSpec zero_gradient(const char* type) {
  return OpSpec(type)
      .doc("X@GRAD = 0: Out stays as it is when X moves a little.")
      .input("Out@GRAD", "shape of Out")
      .output("X@GRAD", "shape of X")
      .infer(same_as("Out@GRAD"))
      .in_place("Out@GRAD", "X@GRAD");
}

}  // namespace paddle_mini

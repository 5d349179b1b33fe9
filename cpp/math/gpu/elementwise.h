// Elementwise on a GPU, where it is one launch.
#pragma once

#include "math/map.h"

namespace paddle_mini {

template <class K>
class Elementwise : public ElementwiseKernel {
 public:
  void run(KernelContext& context) override {
    K& kernel = static_cast<K&>(*this);
    kernel.apply([&](auto f, auto* out, const auto*... in) { map(context, kernel.numel(), f, out, in...); });
  }
};

}  // namespace paddle_mini

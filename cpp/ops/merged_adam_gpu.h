// The kernels of merged_adam on a GPU.
#pragma once

#include "math/gpu/adam_step.h"

namespace paddle_mini {
namespace {

template <class T>
void MergedAdamKernel<T>::run(KernelContext& context) {
  batch_launches(context, [&] {
    for (size_t i = 0; i < params.size(); ++i) step(context, i);
  });
}

template <class T>
void MergedAdamKernel<T>::step(KernelContext& context, size_t i) {
  AdamRule<T> rule{beta1, beta2, powers1[i], powers2[i], rates[i], epsilon, false};
  map(context, params[i].numel(), rule,
      std::tuple(params_out[i].data(), moments1_out[i].data(), moments2_out[i].data()), params[i].data(),
      moments1[i].data(), moments2[i].data(), grads[i].data());
  map(context, 1, AdvancePower<T>{beta1, global_powers}, powers1_out[i].data(), powers1[i].data());
  map(context, 1, AdvancePower<T>{beta2, global_powers}, powers2_out[i].data(), powers2[i].data());
}

}  // namespace
}  // namespace paddle_mini

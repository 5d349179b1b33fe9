// GPU kernels of adam.
#pragma once

#include "math/gpu/adam_step.h"

namespace paddle_mini {
namespace {

template <class T>
void AdamKernel<T>::run(KernelContext& context) {
  ScalarArg<T> b1 = scalar_or(beta1_tensor, static_cast<T>(beta1)), b2 = scalar_or(beta2_tensor, static_cast<T>(beta2));
  ScalarArg<bool> stays = scalar_or(skip_update, false);
  AdamRule<T> rule{
      b1, b2, beta1_power, beta2_power, learning_rate, scalar_or(epsilon_tensor, static_cast<T>(epsilon)), stays};
  map(context, param.numel(), rule, outputs(0), param.data(), moment1.data(), moment2.data(), grad.data());
  if (global_powers) stays = true;
  if (beta1_power_out) map(context, 1, AdvancePower<T>{b1, stays}, beta1_power_out.data(), beta1_power.data());
  if (beta2_power_out) map(context, 1, AdvancePower<T>{b2, stays}, beta2_power_out.data(), beta2_power.data());
}

}  // namespace
}  // namespace paddle_mini

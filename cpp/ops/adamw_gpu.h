// GPU kernels of adamw.
#pragma once

#include "math/gpu/adam_step.h"

namespace paddle_mini {
namespace {

template <class T>
struct AdamwUnless {
  AdamUnless<T> adam;
  T decay;
  bool decays;

  PM_HD std::tuple<T, T, T> operator()(T param, T moment1, T moment2, T gradient) const {
    if (decays && !adam.stays) return AdamwStep<T>{adam.step, decay}(param, moment1, moment2, gradient);
    return adam(param, moment1, moment2, gradient);
  }
};

template <class T>
struct AdamwRule {
  static constexpr bool batchable = true, updates_parameter = true;
  AdamRule<T> adam;
  T decay;  // for a learning rate of 1
  PM_HD AdamwUnless<T> bind_scalars() const { return {adam.bind_scalars(), adam.rate() * decay, decay != T(0)}; }
};

template <class T>
void AdamwKernel<T>::run(KernelContext& context) {
  ScalarArg<T> b1 = scalar_or(beta1_tensor, static_cast<T>(beta1));
  ScalarArg<T> b2 = scalar_or(beta2_tensor, static_cast<T>(beta2));
  ScalarArg<bool> stays = scalar_or(skip_update, false);
  AdamRule<T> adam{
      b1, b2, beta1_power, beta2_power, learning_rate, scalar_or(epsilon_tensor, static_cast<T>(epsilon)), stays};
  run_with(context, AdamwRule<T>{adam, decay}, 0, param.numel());
  if (global_powers) stays = true;
  if (beta1_power_out) map(context, 1, AdvancePower<T>{b1, stays}, beta1_power_out.data(), beta1_power.data());
  if (beta2_power_out) map(context, 1, AdvancePower<T>{b2, stays}, beta2_power_out.data(), beta2_power.data());
}

}  // namespace
}  // namespace paddle_mini

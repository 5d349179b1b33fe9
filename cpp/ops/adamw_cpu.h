// CPU kernels of adamw.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void AdamwKernel<T>::run(KernelContext& context) {
  run_tile(context, 0, param.numel());
}

template <class T>
void AdamwKernel<T>::run_tile(KernelContext& context, int64_t begin, int64_t end) {
  T b1 = static_cast<T>(beta1_tensor ? beta1_tensor[0] : beta1),
    b2 = static_cast<T>(beta2_tensor ? beta2_tensor[0] : beta2);
  T e = static_cast<T>(epsilon_tensor ? epsilon_tensor[0] : epsilon);
  T power1 = beta1_power[0], power2 = beta2_power[0], rate = learning_rate[0];
  bool stays = skip_update && skip_update[0];
  if (stays) {
    copy_part(context, param, param_out, begin, end - begin);
    copy_part(context, moment1, moment1_out, begin, end - begin);
    copy_part(context, moment2, moment2_out, begin, end - begin);
  } else {
    AdamStep<T> step(b1, b2, power1, power2, rate, e);
    // Without decay the result equals adam's to the bit, even where Param is infinite.
    if (decay == T(0)) run_with(context, step, begin, end);
    else run_with(context, AdamwStep<T>{step, rate * decay}, begin, end);
  }
  if (end < param.numel()) return;
  bool advance = !stays && !global_powers;
  if (beta1_power_out) beta1_power_out[0] = advance ? b1 * power1 : power1;
  if (beta2_power_out) beta2_power_out[0] = advance ? b2 * power2 : power2;
}

}  // namespace
}  // namespace paddle_mini

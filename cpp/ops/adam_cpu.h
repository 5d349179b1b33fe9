// CPU kernels of adam.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
T AdamKernel<T>::beta_1() const {
  return static_cast<T>(beta1_tensor ? beta1_tensor[0] : beta1);
}

template <class T>
T AdamKernel<T>::beta_2() const {
  return static_cast<T>(beta2_tensor ? beta2_tensor[0] : beta2);
}

template <class T>
AdamStep<T> AdamKernel<T>::step(T power1, T power2) const {
  return {beta_1(), beta_2(),         power1,
          power2,   learning_rate[0], static_cast<T>(epsilon_tensor ? epsilon_tensor[0] : epsilon)};
}

template <class T>
bool AdamKernel<T>::skips() const {
  return skip_update && skip_update[0];
}

template <class T>
void AdamKernel<T>::run(KernelContext& context) {
  if (!grad.is_rows()) return run_tile(context, 0, param.numel());
  T power1 = beta1_power[0], power2 = beta2_power[0];
  bool stays = skips() || grad.variable().rows.empty();
  if (stays) copy_to_outputs(context, 0, param.numel());
  // As in PaddlePaddle, only lazy updates with own powers use powers that are already advanced.
  else if (lazy) run_lazy(context, global_powers ? step(power1, power2) : step(beta_1() * power1, beta_2() * power2));
  else run_sparse(context, step(power1, power2));
  set_powers(stays);
}

template <class T>
void AdamKernel<T>::run_tile(KernelContext& context, int64_t begin, int64_t end) {
  bool stays = skips();
  if (stays) copy_to_outputs(context, begin, end);
  else update(context, step(beta1_power[0], beta2_power[0]), begin, end - begin, grad.data() + begin);
  if (end == param.numel()) set_powers(stays);
}

template <class T>
void AdamKernel<T>::set_powers(bool stays) {
  bool advance = !stays && !global_powers;
  if (beta1_power_out) beta1_power_out[0] = advance ? beta_1() * beta1_power[0] : beta1_power[0];
  if (beta2_power_out) beta2_power_out[0] = advance ? beta_2() * beta2_power[0] : beta2_power[0];
}

template <class T>
void AdamKernel<T>::update(KernelContext& context, const AdamStep<T>& step, int64_t at, int64_t n, const T* gradient) {
  map(context, n, step, outputs(at), param.data() + at, moment1.data() + at, moment2.data() + at, gradient);
}

template <class T>
const T* AdamKernel<T>::merge_rows(KernelContext& context) {
  lists[0] = {&grad.variable().rows, grad.data()};
  merge.run(context, lists, width, merged.data());
  return merged.data();
}

// Rows that the gradient does not name keep their parameters and moments.
template <class T>
void AdamKernel<T>::run_lazy(KernelContext& context, const AdamStep<T>& step) {
  const T* gradient = merge_rows(context);
  copy_to_outputs(context, 0, param.numel());
  each_item(context, {static_cast<int64_t>(merge.rows().size()), row_cost()}, [&](int64_t i) {
    int64_t at = merge.rows()[static_cast<size_t>(i)] * width;
    map(context, width, step, outputs(at), param_out.data() + at, moment1_out.data() + at, moment2_out.data() + at,
        gradient + i * width);
  });
}

// Rows that the gradient does not name have gradient 0, as with a dense gradient.
template <class T>
void AdamKernel<T>::run_sparse(KernelContext& context, const AdamStep<T>& step) {
  const T* gradient = merge_rows(context);
  auto idle = [step](auto p, auto m, auto v) { return step(p, m, v, decltype(p)(T(0))); };
  merge.each_row(
      context, height, row_cost(),
      [&](int64_t row, int64_t i) { update(context, step, row * width, width, gradient + i * width); },
      [&](int64_t row, int64_t count) {
        int64_t at = row * width;
        map(context, count * width, idle, outputs(at), param.data() + at, moment1.data() + at, moment2.data() + at);
      });
}

template <class T>
void AdamKernel<T>::copy_to_outputs(KernelContext& context, int64_t begin, int64_t end) {
  copy_part(context, param, param_out, begin, end - begin);
  copy_part(context, moment1, moment1_out, begin, end - begin);
  copy_part(context, moment2, moment2_out, begin, end - begin);
}

}  // namespace
}  // namespace paddle_mini

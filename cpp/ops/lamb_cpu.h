// CPU kernels of lamb.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void LambKernel<T>::run(KernelContext& context) {
  T power1 = beta1_power[0], power2 = beta2_power[0];
  bool stays = (skip_update && skip_update[0]) || (grad.is_rows() && grad.variable().rows.empty());
  if (stays) {
    copy_all(context, param, param_out);
    copy_all(context, moment1, moment1_out);
    copy_all(context, moment2, moment2_out);
  } else {
    step(context, {beta1, beta2, T(1) - power1, T(1) - power2, epsilon, decay});
  }
  if (beta1_power_out) beta1_power_out[0] = stays ? power1 : beta1 * power1;
  if (beta2_power_out) beta2_power_out[0] = stays ? power2 : beta2 * power2;
}

// The norms are sums over blocks, added in order, so that they do not depend on threads.
template <class T>
void LambKernel<T>::step(KernelContext& context, const LambStep<T>& s) {
  if (grad.is_rows()) {
    gradient.for_each_row(
        context, [&](int64_t at, int64_t count, const T* g) { moments(context, s, at, count, g); },
        [&](int64_t at, int64_t count) { moments(context, s, at, count, nullptr); });
  }
  const int64_t blocks = blocks_of(param.numel());
  each_item(context, {blocks, bytes_cost(7.0 * sizeof(T)) * static_cast<double>(kBlock)}, [&](int64_t block) {
    int64_t at = block * kBlock, count = std::min(kBlock, param.numel() - at);
    if (!grad.is_rows()) moments(context, s, at, count, grad.data() + at);
    if (adapts) write_squares(context, s, at, count, squares.data() + 2 * block);
    else move(context, s, at, count, learning_rate[0]);
  });
  if (!adapts) return;
  double param_squares = 0, direction_squares = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    param_squares += squares[2 * block];
    direction_squares += squares[2 * block + 1];
  }
  T ratio = T(1);
  if (param_squares > 0 && direction_squares > 0) {
    ratio = static_cast<T>(std::sqrt(param_squares) / std::sqrt(direction_squares));
  }
  move(context, s, 0, param.numel(), learning_rate[0] * ratio);
}

// Without g, the gradient is 0: a sparse gradient does not name these rows.
template <class T>
void LambKernel<T>::moments(KernelContext& context, const LambStep<T>& s, int64_t at, int64_t count, const T* g) {
  auto idle = [s](auto m, auto v) { return s(m, v, decltype(m)(T(0))); };
  std::tuple outputs(moment1_out.data() + at, moment2_out.data() + at);
  const T *m = moment1.data() + at, *v = moment2.data() + at;
  if (g) map(context, count, s, outputs, m, v, g);
  else map(context, count, idle, outputs, m, v);
}

// The squares of the parameter and of the direction, summed over some elements.
template <class T>
void LambKernel<T>::write_squares(KernelContext& context, const LambStep<T>& s, int64_t at, int64_t count,
                                  double* sums) {
  const T *m = moment1_out.data() + at, *v = moment2_out.data() + at;
  auto square = [s](auto p, auto m, auto v) {
    auto d = s.direction(p, m, v);
    return d * d;
  };
  sums[0] = map_sum(context, count, [](auto p) { return p * p; }, param.data() + at);
  sums[1] = map_sum(context, count, square, param.data() + at, m, v);
}

template <class T>
void LambKernel<T>::move(KernelContext& context, const LambStep<T>& s, int64_t at, int64_t n, T rate) {
  const T *m = moment1_out.data() + at, *v = moment2_out.data() + at;
  auto step = [s, rate](auto p, auto m, auto v) { return p - decltype(p)(rate) * s.direction(p, m, v); };
  map(context, n, step, param_out.data() + at, param.data() + at, m, v);
}

}  // namespace
}  // namespace paddle_mini

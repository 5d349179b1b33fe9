// CPU kernels of cos_sim.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void CosSimKernel<T>::run(KernelContext& context) {
  const double cost = bytes_cost(2.0 * sizeof(T)) * static_cast<double>(pairs.size);
  each_long_item(context, {pairs.rows, cost},
                 [&](int64_t i) { x_norm[i] = length(context, x.data() + i * pairs.size); });
  each_long_item(context, {y_norm.numel(), cost},
                 [&](int64_t i) { y_norm[i] = length(context, y.data() + i * pairs.size); });
  each_long_item(context, {pairs.rows, cost}, [&](int64_t i) {
    const T *a = x.data() + i * pairs.size, *b = y.data() + i * pairs.y_step;
    double dot = map_sum(context, pairs.size, [](auto v, auto w) { return v * w; }, a, b);
    double norms = static_cast<double>(x_norm[i]) * static_cast<double>(y_norm[pairs.y_row(i)]);
    out[i] = static_cast<T>(dot / norms);
  });
}

// Rows shorter than 1e-8 count as that long, which avoids division by 0.
template <class T>
T CosSimKernel<T>::length(KernelContext& context, const T* row) {
  double squares = map_sum(context, pairs.size, [](auto v) { return v * v; }, row);
  return static_cast<T>(maximum(std::sqrt(squares), 1e-8));
}

template <class T>
void CosSimGradKernel<T>::run(KernelContext& context) {
  if (y_gradient) std::fill_n(y_gradient.data(), y_gradient.numel(), T(0));
  for (int64_t i = 0; i < pairs.rows; ++i) {
    const T *a = x.data() + i * pairs.size, *b = y.data() + i * pairs.y_step;
    T g = out_gradient[i], n = x_norm[i], m = y_norm[pairs.y_row(i)], across = g / (n * m);
    T along_x = g * out[i] / (n * n), along_y = g * out[i] / (m * m);
    if (x_gradient) {
      auto slope = [across, along_x](auto own, auto other) {
        return other * decltype(own)(across) - own * decltype(own)(along_x);
      };
      map(context, pairs.size, slope, x_gradient.data() + i * pairs.size, a, b);
    }
    if (y_gradient) {
      T* to = y_gradient.data() + i * pairs.y_step;
      auto add = [across, along_y](auto sum, auto own, auto other) {
        return sum + (other * decltype(own)(across) - own * decltype(own)(along_y));
      };
      map(context, pairs.size, add, to, static_cast<const T*>(to), b, a);
    }
  }
}

}  // namespace
}  // namespace paddle_mini

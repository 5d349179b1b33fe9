// CPU kernels of dot.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void DotKernel<T>::run(KernelContext& context) {
  each_long_item(context, {out.numel(), bytes_cost(2.0 * sizeof(T)) * static_cast<double>(size)}, [&](int64_t i) {
    const T *a = x.data() + i * size, *b = y.data() + i * size;
    if constexpr (has_vec<T>) {
      out[i] = static_cast<T>(map_sum(context, size, [](auto v, auto w) { return v * w; }, a, b));
    } else if constexpr (is_complex_number<T>) {
      T sum(0);
      for (int64_t j = 0; j < size; ++j) sum += a[j] * b[j];
      out[i] = sum;
    } else {
      using Wrapping = std::make_unsigned_t<T>;
      Wrapping sum = 0;
      for (int64_t j = 0; j < size; ++j) sum += static_cast<Wrapping>(a[j]) * static_cast<Wrapping>(b[j]);
      out[i] = static_cast<T>(sum);
    }
  });
}

template <class T>
void DotGradKernel<T>::run(KernelContext& context) {
  each_long_item(context, {out_gradient.numel(), bytes_cost(4.0 * sizeof(T)) * static_cast<double>(size)},
                 [&](int64_t i) {
                   auto scaled = [g = out_gradient[i]](auto v) { return conj(v) * decltype(v)(g); };
                   if (x_gradient) map(context, size, scaled, x_gradient.data() + i * size, y.data() + i * size);
                   if (y_gradient) map(context, size, scaled, y_gradient.data() + i * size, x.data() + i * size);
                 });
}

}  // namespace
}  // namespace paddle_mini

// Sums over whole arrays on a CPU.
#pragma once

#include "math/convert_element.h"
#include "math/map.h"

namespace paddle_mini {

template <class T, class F>
void sum_of(KernelContext& context, int64_t n, F f, const T* x, T* out, double divisor = 1) {
  if constexpr (has_vec<T>) {
    *out = static_cast<T>(map_sum(context, n, f, x) / divisor);
  } else {
    using Wide = Complex<double>;
    Wide total(0.0);
    for (int64_t i = 0; i < n; ++i) total += convert_element<Wide>(f(x[i]));
    *out = convert_element<T>(total / divisor);
  }
}

template <class F, class... Inputs>
void sum_to(KernelContext& context, int64_t n, F f, double* out, const Inputs*... in) {
  *out = map_sum(context, n, bind_scalars(f), in...);
}

}  // namespace paddle_mini

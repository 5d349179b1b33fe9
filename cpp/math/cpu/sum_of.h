// Sums over whole arrays on a CPU.
#pragma once

#include "math/map.h"

namespace paddle_mini {

template <class T, class F>
void sum_of(Device& device, int64_t n, F f, const T* x, T* out, double divisor = 1) {
  *out = static_cast<T>(map_sum(device, n, f, x) / divisor);
}

template <class F, class... Inputs>
void sum_to(Device& device, int64_t n, F f, double* out, const Inputs*... in) {
  *out = map_sum(device, n, ready(f), in...);
}

}  // namespace paddle_mini

// map_ahead on a CPU: memory is asked for before it is needed.
#pragma once

#include "math/map.h"

namespace paddle_mini {

// Bytes between what is computed and what is asked for: across the end of a page, where the processor's own reading
// ahead stops.
inline constexpr int64_t kAhead = 2048;

template <class T>
inline void ask_ahead(const T* at) {
  __builtin_prefetch(at + kAhead / static_cast<int64_t>(sizeof(T)));
}

// out[i] = f(in[i]...), as map does it.
template <class T, class F, class... Inputs>
void map_ahead(Device& device, int64_t n, F f, T* out, const Inputs*... in) {
  constexpr int64_t step = Vec<T>::size;
  int64_t i = 0;
#pragma GCC unroll 2
  for (; i + step <= n; i += step) {
    (ask_ahead(in + i), ...);
    f(Vec<T>::load(in + i)...).store(out + i);
  }
  map(device, n - i, f, out + i, in + i...);
}

}  // namespace paddle_mini

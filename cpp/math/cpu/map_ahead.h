// map_ahead on a CPU: prefetches its inputs.
#pragma once

#include "math/map.h"

namespace paddle_mini {

// Prefetch distance in bytes: reaches across the end of a page, where the hardware prefetcher stops.
inline constexpr int64_t kAhead = 2048;

template <class T>
inline void ask_ahead(const T* at) {
  __builtin_prefetch(at + kAhead / static_cast<int64_t>(sizeof(T)));
}

// out[i] = f(in[i]...), like map.
template <class T, class F, class... Inputs>
void map_ahead(KernelContext& context, int64_t n, F f, T* out, const Inputs*... in) {
  constexpr int64_t step = Vec<Computed<T>>::size;
  LoopSize size = map_loop::size_of_loop(n - n % step, out, in...);
  parallel_for(context, size, [&](int64_t begin, int64_t end) {
    F g = f;
#pragma GCC unroll 2
    for (int64_t i = begin; i < end; i += step) {
      (ask_ahead(in + i), ...);
      map_loop::store(g(map_loop::load(in + i)...), out + i);
    }
  });
  int64_t i = n - n % step;
  map(context, n - i, f, out + i, in + i...);
}

}  // namespace paddle_mini

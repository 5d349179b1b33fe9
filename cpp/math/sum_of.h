// The sum over a whole array, left where an operator's output is.
#pragma once

#include "math/arithmetic.h"
#include "math/map.h"

#ifdef PM_GPU
#include <tuple>
#include <utility>

#include "math/gpu/fold.h"
#endif

namespace paddle_mini {

struct Squared {
  template <class V>
  PM_HD V operator()(V v) const {
    return v * v;
  }
};

#ifdef PM_GPU
namespace sum_gpu {
template <class F, class... Inputs>
struct Get {
  F f;
  std::tuple<const Inputs*...> in;

  PM_DEVICE auto operator()(const int64_t (&at)[1]) const { return of(at[0], std::index_sequence_for<Inputs...>{}); }
  template <size_t... I>
  PM_DEVICE auto of(int64_t i, std::index_sequence<I...>) const {
    return ready(f)(std::get<I>(in)[i]...);
  }
};
template <class A>
struct Put {
  double divisor;
  A* out;
  PM_DEVICE void operator()(int64_t, double sum) const { *out = static_cast<A>(sum / divisor); }
};

template <class A, class F, class... Inputs>
void sum(Device& device, int64_t n, F f, double divisor, A* out, const Inputs*... in) {
  Walk<1> one, all;
  all.add(n, {1});
  fold(device, one, all, 0.0, Get<F, Inputs...>{f, {in...}}, Plus{}, Put<A>{divisor, out});
}
}  // namespace sum_gpu
#endif

// *out = sum of f(x[i]) / divisor
template <class T, class F>
void sum_of(Device& device, int64_t n, F f, const T* x, T* out, double divisor = 1) {
#ifdef PM_GPU
  sum_gpu::sum(device, n, f, divisor, out, x);
#else
  *out = static_cast<T>(map_sum(device, n, f, x) / divisor);
#endif
}

// *out = sum of f(in[i]...)
template <class F, class... Inputs>
void sum_to(Device& device, int64_t n, F f, double* out, const Inputs*... in) {
#ifdef PM_GPU
  sum_gpu::sum(device, n, f, 1, out, in...);
#else
  *out = map_sum(device, n, ready(f), in...);
#endif
}

}  // namespace paddle_mini

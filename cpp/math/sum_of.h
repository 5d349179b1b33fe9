// The sum over a whole array, left where an operator's output is.
#pragma once

#include "math/arithmetic.h"
#include "math/map.h"

#ifdef PM_GPU
#include "math/fold_gpu.h"
#endif

namespace paddle_mini {

#ifdef PM_GPU
namespace sum_gpu {
template <class T, class F>
struct Get {
  F f;
  const T* x;
  PM_DEVICE T operator()(const int64_t (&at)[1]) const { return f(x[at[0]]); }
};
template <class T>
struct Put {
  double divisor;
  T* out;
  PM_DEVICE void operator()(int64_t, double sum) const { *out = static_cast<T>(sum / divisor); }
};
}  // namespace sum_gpu
#endif

// *out = sum of f(x[i]) / divisor
template <class T, class F>
void sum_of(Device& device, int64_t n, F f, const T* x, T* out, double divisor = 1) {
#ifdef PM_GPU
  Walk<1> one, all;
  all.add(n, {1});
  fold(device, one, all, 0.0, sum_gpu::Get<T, F>{f, x}, Plus{}, sum_gpu::Put<T>{divisor, out});
#else
  *out = static_cast<T>(map_sum(device, n, f, x) / divisor);
#endif
}

}  // namespace paddle_mini

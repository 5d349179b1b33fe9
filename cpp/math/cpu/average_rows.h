// Catches up the rows of an average that were not updated for some steps, one by one on a CPU.
#pragma once

#include <algorithm>
#include "math/average_blocks.h"
#include "math/map.h"

namespace paddle_mini {

// The average of a row that was not updated, decay * a + (1 - decay) p. Exactly a if decay is 1, or if p is not finite,
// in which case p - p is not 0.
template <class T>
inline void average_row(KernelContext& context, int64_t width, double decay, const T* p, const T* a, T* to) {
  if (decay == 1) {
    if (a != to) std::copy_n(a, width, to);
    return;
  }
  auto towards = [decay = static_cast<T>(decay)](auto a, auto p) {
    using V = decltype(p);
    return select(p - p == V(T(0)), p + V(decay) * (a - p), a);
  };
  map(context, width, towards, to, a, p);
}

// A row that was not updated keeps the fraction `decay` of its average, a + b.
template <class T>
inline void catch_up_row(KernelContext& context, int64_t width, double decay, const T* p, T* a, T* b) {
  if (decay == 1) return;
  if (decay == 0) {  // the result is exactly p, even if a is not finite
    for (int64_t i = 0; i < width; ++i) {
      if (p[i] - p[i] == T(0)) a[i] = p[i], b[i] = T(0);
    }
    return;
  }
  CatchUp<T> step{static_cast<T>(1 - decay)};
  map(context, width, step, std::tuple(a, b), static_cast<const T*>(a), static_cast<const T*>(b), p);
}

// The same, rounded to one number.
template <class T>
inline void ended_row(int64_t width, double decay, const T* p, const T* a, const T* b, T* to) {
  for (int64_t i = 0; i < width; ++i) {
    double mean = static_cast<double>(a[i]) + static_cast<double>(b[i]), value = static_cast<double>(p[i]);
    to[i] = static_cast<T>(value - value == 0 ? value + decay * (mean - value) : mean);
  }
}

}  // namespace paddle_mini

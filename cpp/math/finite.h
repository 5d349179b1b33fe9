// Tests whether numbers are finite.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/parallel.h"
#include "math/map.h"

namespace paddle_mini {

// 0 * x is NaN if x is not finite, else 0, so the sum over many numbers tests them all at once.
template <class T>
class FiniteSum {
 public:
  void add(int64_t n, const T* x) {
    constexpr int64_t step = Vec<T>::size;
    Vec<T> zero(T(0));
    int64_t i = 0;
    for (; i + step <= n; i += step) sum_ = sum_ + zero * Vec<T>::load(x + i);
    if (i < n) sum_ = sum_ + zero * map_loop::load_part(x + i, n - i);
  }
  bool finite() const { return sum_of_lanes(sum_) == 0; }

 private:
  Vec<T> sum_{T(0)};
};

template <class T>
bool all_finite(int64_t n, const T* x) {
  FiniteSum<T> sum;
  sum.add(n, x);
  return sum.finite();
}

// Throws OpError with the first non-finite element of x[0] ... x[n - 1], which are a parameter's elements from `at` on.
template <class T>
void require_finite(const T* x, int64_t at, int64_t n) {
  if (all_finite(n, x)) return;
  while (std::isfinite(*x)) ++x, ++at;
  fail<OpError>("element ", at, " of Param is ", *x, ": it does not enter the average");
}

// 16-bit floats: infinity and NaN have an exponent of all ones.
inline bool all_finite(int64_t n, const Float16* x) {
  return std::none_of(x, x + n, [](Float16 value) { return (value.bits & 0x7c00u) == 0x7c00u; });
}
inline bool all_finite(int64_t n, const BFloat16* x) {
  return std::none_of(x, x + n, [](BFloat16 value) { return (value.bits & 0x7f80u) == 0x7f80u; });
}

// The same on several threads.
template <class T>
bool all_finite(KernelContext& context, int64_t n, const T* x) {
  std::atomic<bool> finite{true};
  parallel_for(context, {n, bytes_cost(sizeof(T)), 256}, [&](int64_t begin, int64_t end) {
    if (finite.load(std::memory_order_relaxed) && !all_finite(end - begin, x + begin)) finite = false;
  });
  return finite;
}

}  // namespace paddle_mini

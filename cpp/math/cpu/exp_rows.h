// Steps shared by every softmax: the maxima of rows and columns, and the sum of the exponentials of a row.
#pragma once

#include <algorithm>

#include "math/cpu/exp_below.h"
#include "math/map.h"
#include "math/map_ahead.h"

namespace paddle_mini {

// The maximum of n > 0 elements. If one is NaN the result may be any element, because the sum of exponentials is then
// NaN, and so is the row. Four registers hide the latency of the maximum.
template <class T>
T row_max(const T* x, int64_t n) {
  constexpr int64_t step = Vec<T>::size;
  if (n < step) return *std::max_element(x, x + n);
  auto larger = [](Vec<T> a, Vec<T> b) { return Vec<T>(Eigen::internal::pmax(a.p, b.p)); };
  Vec<T> first = Vec<T>::load(x), tops[4] = {first, first, first, first};
  int64_t i = 0;
  for (; i + 4 * step <= n; i += 4 * step) {
#pragma GCC unroll 4
    for (int64_t part = 0; part < 4; ++part) {
      ask_ahead(x + i + part * step);
      tops[part] = larger(tops[part], Vec<T>::load(x + i + part * step));
    }
  }
  for (; i < n; i += step) tops[0] = larger(tops[0], Vec<T>::load(x + std::min(i, n - step)));
  return max_of_lanes(larger(larger(tops[0], tops[1]), larger(tops[2], tops[3])));
}

// to[i] = the maximum of n columns of `rows` > 0 elements, which are `step` apart.
template <class T>
void column_max(KernelContext& context, int64_t rows, int64_t step, int64_t n, const T* x, T* to) {
  auto larger = [](auto a, auto b) { return maximum(a, b); };
  std::copy_n(x, n, to);
  for (int64_t i = 1; i < rows; ++i) map(context, n, larger, to, static_cast<const T*>(to), x + i * step);
}

// to[i] = exp(shift(x[i])), where shift gives values <= 0. Returns their sum, with map_sum's blocks. `to` may be x.
template <class T, class Shift>
double exp_sum(int64_t n, const T* x, T* to, Shift shift) {
  constexpr int64_t step = Vec<T>::size, block = 128 * step;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += block) {
    int64_t end = std::min(begin + block, n), i = begin;
    Vec<T> sums[2] = {Vec<T>(T(0)), Vec<T>(T(0))};
    for (; i + 2 * step <= end; i += 2 * step) {
      Vec<T> first = exp_below(shift(Vec<T>::load(x + i))), second = exp_below(shift(Vec<T>::load(x + i + step)));
      first.store(to + i);
      second.store(to + i + step);
      sums[0] = sums[0] + first;
      sums[1] = sums[1] + second;
    }
    total += sum_of_lanes(sums[0] + sums[1]);
    for (; i < end; i += step) {
      int64_t count = std::min(step, end - i);
      map_loop::store_part(exp_below(shift(map_loop::load_part(x + i, count))), to + i, count);
      for (int64_t lane = i; lane < i + count; ++lane) total += to[lane];
    }
  }
  return total;
}

}  // namespace paddle_mini

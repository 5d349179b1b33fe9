// What every softmax does with a row that lies in one piece: its largest element, and the sum of its exponentials.
#pragma once

#include <algorithm>

#include "math/map_ahead.h"

namespace paddle_mini {

// The largest of n > 0 elements; NaN where one of them is. Four registers, as each maximum waits for the one before.
template <class T>
T row_max(const T* x, int64_t n) {
  constexpr int64_t step = Vec<T>::size;
  T top = x[0];
  int64_t i = 0;
  if (n >= 4 * step) {
    Vec<T> tops[4];
    for (int64_t part = 0; part < 4; ++part) tops[part] = Vec<T>::load(x + part * step);
    for (i = 4 * step; i + 4 * step <= n; i += 4 * step) {
#pragma GCC unroll 4
      for (int64_t part = 0; part < 4; ++part) {
        ask_ahead(x + i + part * step);
        tops[part] = maximum(tops[part], Vec<T>::load(x + i + part * step));
      }
    }
    T lanes[step];
    maximum(maximum(tops[0], tops[1]), maximum(tops[2], tops[3])).store(lanes);
    for (T lane : lanes) top = maximum(top, lane);
  }
  for (; i < n; ++i) top = maximum(top, x[i]);
  return top;
}

// to[i] = exp(shift(x[i])), and their sum, with map_sum's blocks. `to` may be x.
template <class T, class Shift>
double exp_sum(int64_t n, const T* x, T* to, Shift shift) {
  constexpr int64_t step = Vec<T>::size, block = 128 * step;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += block) {
    int64_t end = std::min(begin + block, n), i = begin;
    Vec<T> sums[2] = {Vec<T>(T(0)), Vec<T>(T(0))};
    for (; i + 2 * step <= end; i += 2 * step) {
      Vec<T> first = exp(shift(Vec<T>::load(x + i))), second = exp(shift(Vec<T>::load(x + i + step)));
      first.store(to + i);
      second.store(to + i + step);
      sums[0] = sums[0] + first;
      sums[1] = sums[1] + second;
    }
    total += sum_of_lanes(sums[0] + sums[1]);
    for (; i < end; i += step) {
      int64_t count = std::min(step, end - i);
      map_loop::store_part(exp(shift(map_loop::load_part(x + i, count))), to + i, count);
      for (int64_t lane = i; lane < i + count; ++lane) total += to[lane];
    }
  }
  return total;
}

}  // namespace paddle_mini

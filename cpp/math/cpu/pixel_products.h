// multiply_pixels: products of a few numbers with registers of neighbouring channels.
#pragma once

#include "math/cpu/register_blocks.h"

namespace paddle_mini {

// Pixels whose sums stay in registers, two for each.
template <class T>
constexpr int kMostPixels = many_registers<T> ? 14 : 6;

// How many rows of a panel are prefetched ahead: panels may lie in slow memory, and a row takes 14 cycles at most.
constexpr int kPanelAhead = 32;

// sums [pixels, registers] = inputs' panel; panel [count, registers]. The inputs of `first` pixels are adjacent at
// left[offsets[k]], of `second` more at right[offsets[k]]. The sums of pixel i, register r are stored at
// result[i * pixel_step + r * register_step].
template <int first, int second, int registers, class T>
inline void multiply_pixels(int64_t count, const T* panel, const int64_t* offsets, const T* left, const T* right,
                            T* result, int64_t pixel_step, int64_t register_step) {
  constexpr int lanes = Vec<T>::size, pixels = first + second;
  Vec<T> sums[pixels][registers];
#pragma GCC unroll 14
  for (int i = 0; i < pixels; ++i) {
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) sums[i][r] = Vec<T>(T(0));
  }
  for (int64_t k = 0; k < count; ++k, panel += registers * lanes) {
    const T *at = left + offsets[k], *then = right + offsets[k];
    Vec<T> factors[registers];
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) {
      factors[r] = Vec<T>::load(panel + r * lanes);
      __builtin_prefetch(panel + (kPanelAhead * registers + r) * lanes);
    }
#pragma GCC unroll 14
    for (int i = 0; i < pixels; ++i) {
      const Vec<T> input(i < first ? at[i] : then[i - first]);
#pragma GCC unroll 2
      for (int r = 0; r < registers; ++r) sums[i][r] = multiply_add(input, factors[r], sums[i][r]);
    }
  }
#pragma GCC unroll 14
  for (int i = 0; i < pixels; ++i) {
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) sums[i][r].store(result + i * pixel_step + r * register_step);
  }
}

}  // namespace paddle_mini

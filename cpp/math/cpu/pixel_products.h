// multiply_pixels: products of a few numbers with registers of neighbouring channels.
#pragma once

#include "math/cpu/register_blocks.h"

namespace paddle_mini {

// Pixels whose sums stay in registers, two for each.
template <class T>
constexpr int kMostPixels = many_registers<T> ? 14 : 6;

// `count` rows of a panel of factors [count, registers], and their inputs: those of some pixels are adjacent at left[offsets[k]],
// those of more at right[offsets[k]]. What is prefetched beside row k is at ahead + k * ahead_step.
template <class T>
struct PixelOperands {
  int64_t count;
  const T* panel;
  const T* ahead;
  int64_t ahead_step;
  const int64_t* offsets;
  const T *left, *right;
};

// sums [registers, pixels] = (or += if `add`) inputs' panel; that of pixel i and register r is at
// result[r * register_step + i * lanes].
template <int first, int second, int registers, class T>
inline void multiply_pixels(const PixelOperands<T>& operands, bool add, T* result, int64_t register_step) {
  constexpr int lanes = Vec<T>::size, pixels = first + second;
  Vec<T> sums[pixels][registers];
#pragma GCC unroll 14
  for (int i = 0; i < pixels; ++i) {
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r)
      sums[i][r] = add ? Vec<T>::load(result + i * lanes + r * register_step) : Vec<T>(T(0));
  }
  const T *panel = operands.panel, *ahead = operands.ahead, *left = operands.left, *right = operands.right;
  for (int64_t k = 0; k < operands.count; ++k, panel += registers * lanes, ahead += operands.ahead_step) {
    const T *at = left + operands.offsets[k], *then = right + operands.offsets[k];
    Vec<T> factors[registers];
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) factors[r] = Vec<T>::load(panel + r * lanes);
    __builtin_prefetch(ahead, 0, 2);
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
    for (int r = 0; r < registers; ++r) sums[i][r].store(result + i * lanes + r * register_step);
  }
}

}  // namespace paddle_mini

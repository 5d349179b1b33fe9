// The blocks of sums of ImageLanes: a few filters times a few pixels of a row, in registers.
#pragma once

#include "math/cpu/register_blocks.h"

namespace paddle_mini {
namespace image_lanes {

// Sums of so many filters and pixels stay in registers.
template <class T>
constexpr int kFilters = many_registers<T> ? 4 : 2;
template <class T>
constexpr int kPixels = many_registers<T> ? 6 : 4;

// The inputs and factors of a block of results.
template <class T, class Taps>
struct Operands {
  int64_t channels;
  const Taps &height, &width;
  const T* inputs;
  int64_t channel_step, pixel_step;
  const T* factors;  // [channels, window, filters]
  int64_t window;
};

// Where the results of a block are stored, those of filter i and pixel n at first + i * filter_step + n * pixel_step.
template <class T>
struct Results {
  T* first;
  int64_t filter_step, pixel_step;
};

// Adds the products of a tap.
template <int filters, int pixels, class T>
inline void add_tap(const T* inputs, int64_t step, const T* factors, Vec<T> (&sums)[filters][pixels]) {
  Vec<T> of[filters];
#pragma GCC unroll 4
  for (int i = 0; i < filters; ++i) of[i] = Vec<T>(factors[i]);
#pragma GCC unroll 6
  for (int n = 0; n < pixels; ++n) {
    const Vec<T> input = Vec<T>::load(inputs + n * step);
#pragma GCC unroll 4
    for (int i = 0; i < filters; ++i) sums[i][n] = multiply_add(of[i], input, sums[i][n]);
  }
}

// The same for several taps, of which each one reads what the pixel before reads for the next one: every input is loaded once.
// That is half of the loads, and other programs on the same core use its load ports, too.
template <int filters, int pixels, int taps, class T>
inline void add_taps(const T* inputs, int64_t step, const T* factors, Vec<T> (&sums)[filters][pixels]) {
  Vec<T> input[pixels];  // that for tap t and pixel n is at (n + t) % pixels
#pragma GCC unroll 6
  for (int n = 0; n < pixels; ++n, inputs += step) input[n] = Vec<T>::load(inputs);
#pragma GCC unroll 5
  for (int t = 0; t < taps; ++t) {
#pragma GCC unroll 4
    for (int i = 0; i < filters; ++i) {
      const Vec<T> factor(factors[t * filters + i]);
#pragma GCC unroll 6
      for (int n = 0; n < pixels; ++n) sums[i][n] = multiply_add(factor, input[(n + t) % pixels], sums[i][n]);
    }
    if (t + 1 < taps) input[t % pixels] = Vec<T>::load(inputs), inputs += step;
  }
}

// taps: how many taps a row has, if these are neighbours, as are the pixels' inputs; or 0.
template <int filters, int pixels, int taps, class T, class Taps>
void multiply_block(const Operands<T, Taps>& o, const Results<T>& results) {
  Vec<T> sums[filters][pixels];
#pragma GCC unroll 4
  for (int i = 0; i < filters; ++i) {
#pragma GCC unroll 6
    for (int n = 0; n < pixels; ++n) sums[i][n] = Vec<T>(T(0));
  }
  const T *inputs = o.inputs, *factors = o.factors;
  const auto *const first = o.width.data(), *const end = first + o.width.size();
  for (int64_t c = 0; c < o.channels; ++c, inputs += o.channel_step, factors += o.window * filters) {
    for (const auto& row : o.height) {
      const T *of_row = inputs + row.input, *factors_of_row = factors + row.factor * filters;
      if constexpr (taps != 0) {
        add_taps<filters, pixels, taps>(of_row + first->input, o.pixel_step, factors_of_row + first->factor * filters,
                                        sums);
      } else {
        for (const auto* tap = first; tap != end; ++tap)
          add_tap(of_row + tap->input, o.pixel_step, factors_of_row + tap->factor * filters, sums);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < filters; ++i) {
#pragma GCC unroll 6
    for (int n = 0; n < pixels; ++n) sums[i][n].store(results.first + i * results.filter_step + n * results.pixel_step);
  }
}

// The same for so many filters and pixels.
template <class T, class Taps>
void multiply_block(const Operands<T, Taps>& operands, int filters, int pixels, bool are_neighbours,
                    const Results<T>& results) {
  constexpr int most = 5;  // taps in a row that are computed together
  const auto taps = static_cast<int>(operands.width.size());
  with_constant<kFilters<T>>(filters, [&](auto filters_constant) {
    with_constant<kPixels<T>>(pixels, [&](auto pixels_constant) {
      constexpr int rows = decltype(filters_constant)::value, columns = decltype(pixels_constant)::value;
      if constexpr (2 * rows > kFilters<T>) {
        if (are_neighbours && taps <= most) {
          with_constant<most>(taps, [&](auto constant) {
            multiply_block<rows, columns, decltype(constant)::value>(operands, results);
          });
          return;
        }
      }
      multiply_block<rows, columns, 0>(operands, results);
    });
  });
}

}  // namespace image_lanes
}  // namespace paddle_mini

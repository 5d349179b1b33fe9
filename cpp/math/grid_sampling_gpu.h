// What the threads of a GPU do for grid_sampler and its gradients.
#pragma once

#include "math/by_target_gpu.h"
#include "math/grid_sampling.h"
#include "math/take_last.h"

namespace paddle_mini {

// One element of Output.
template <class T>
struct SampledElement {
  Sampling<T> s;
  const T *x, *grid;
  T* output;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, sample = take_last(left, s.samples), at = left / s.channels * s.samples + sample;
    const T* plane = x + left * s.height * s.width;
    T total = 0;
    s.each_pixel(s.rows.place(grid[2 * at + 1]).at, s.columns.place(grid[2 * at]).at,
                 [&](int64_t pixel, T weight, T, T) { total += plane[pixel] * weight; });
    output[i] = total;
  }
};

// The pixels, of all images, that samples mix: four each, some of which there may be none of.
template <class T>
struct MixedPixel {
  Sampling<T> s;
  const T* grid;

  PM_DEVICE int64_t operator()(int64_t i) const {
    int64_t at = i / 4, found = -1, number = 0;
    GridPlace<T> row = s.rows.place(grid[2 * at + 1]), column = s.columns.place(grid[2 * at]);
    s.each_pixel(row.at, column.at, [&](int64_t pixel, T, T, T) {
      if (number++ == i % 4) found = pixel;
    });
    return found < 0 ? -1 : at / s.samples * s.height * s.width + found;
  }
};

// What one element of X gets from the samples that it is mixed into, which lie next to each other in `pairs`.
template <class T>
struct MixedShares {
  Sampling<T> s;
  by_target_gpu::Put<T, ByTarget::Meet::Sum> mixed;
  const T *grid, *gradient;
  T* x_gradient;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, pixel = take_last(left, s.height * s.width), image = left / s.channels;
    int64_t target = image * s.height * s.width + pixel;
    T total = 0;
    for (int64_t k = mixed.first(target); k < mixed.count && mixed.pairs[k].target == target; ++k) {
      int64_t at = mixed.pairs[k].source / 4, corner = mixed.pairs[k].source % 4, number = 0;
      T g = gradient[left * s.samples + at % s.samples];
      s.each_pixel(s.rows.place(grid[2 * at + 1]).at, s.columns.place(grid[2 * at]).at,
                   [&](int64_t, T weight, T, T) {
                     if (number++ == corner) total += g * weight;
                   });
    }
    x_gradient[i] = total;
  }
};

template <class T>
struct PlaceShares {
  Sampling<T> s;
  const T *x, *grid, *gradient;
  T* grid_gradient;

  PM_DEVICE void operator()(int64_t sample) const {
    GridPlace<T> row = s.rows.place(grid[2 * sample + 1]), column = s.columns.place(grid[2 * sample]);
    int64_t image = sample / s.samples, plane = s.height * s.width;
    const T* from = gradient + image * s.channels * s.samples + sample % s.samples;
    T along_rows = 0, along_columns = 0;
    s.each_pixel(row.at, column.at, [&](int64_t pixel, T, T row_slope, T column_slope) {
      for (int64_t c = 0; c < s.channels; ++c) {
        T value = x[(image * s.channels + c) * plane + pixel], g = from[c * s.samples];
        along_rows += g * value * row_slope;
        along_columns += g * value * column_slope;
      }
    });
    grid_gradient[2 * sample] = along_columns * column.speed;
    grid_gradient[2 * sample + 1] = along_rows * row.speed;
  }
};

}  // namespace paddle_mini

// Where a grid's coordinates lie in an image, and which pixels are mixed there.
#pragma once

#include <algorithm>

#include "core/kernel.h"
#include "core/target.h"
#include "math/vec.h"

namespace paddle_mini {

// A coordinate of Grid as a place along an axis of X, and how fast the place moves with it.
template <class T>
struct GridPlace {
  T at, speed;
};

// Along one axis: -1 and 1 are the centers of the outermost pixels (corners) or the outer edges of them.
template <class T>
class GridAxis {
 public:
  GridAxis(int64_t size, bool corners, const std::string& padding)
      : size_(size), corners_(corners), border_(padding == "border"), reflects_(padding == "reflection") {}

  PM_HD GridPlace<T> place(T coordinate) const {
    T last = static_cast<T>(size_ - 1), speed = (corners_ ? last : last + T(1)) / T(2);
    T at = corners_ ? (coordinate + T(1)) * speed : (coordinate + T(1)) * speed - T(0.5);
    if (reflects_) return reflected(at, speed, last);
    return border_ ? clipped(at, speed, last) : GridPlace<T>{at, speed};
  }

 private:
  PM_HD static GridPlace<T> clipped(T at, T speed, T last) {
    T inside = minimum(maximum(at, T(0)), last);
    return {inside, inside == at ? speed : T(0)};
  }

  // Mirrored at the outermost centers, or at the outer edges; there half a pixel remains beyond the last center.
  PM_HD GridPlace<T> reflected(T at, T speed, T last) const {
    T half = corners_ ? T(0) : T(0.5), period = T(2) * (last + T(2) * half);
    if (period == T(0)) return {T(0), T(0)};
    T distance = std::abs(at + half), rest = distance - std::floor(distance / period) * period;
    bool before = at + half < T(0), flipped = rest > period - rest;
    if (before != flipped) speed = -speed;
    GridPlace<T> found{minimum(rest, period - rest) - half, speed};
    return corners_ ? found : clipped(found.at, found.speed, last);
  }

  int64_t size_;
  bool corners_, border_, reflects_;
};

// Two pixels around a place along an axis; `there`: whether they are pixels of X.
template <class T>
struct GridPair {
  bool there[2];
  int64_t index[2];
  T part[2];

  PM_HD GridPair(T at, int64_t size) {
    T first = std::floor(at);
    part[1] = at - first;
    part[0] = T(1) - part[1];
    for (int i = 0; i < 2; ++i) {
      T pixel = first + static_cast<T>(i);
      there[i] = pixel >= T(0) && pixel < static_cast<T>(size);
      index[i] = there[i] ? std::min(static_cast<int64_t>(pixel), size - 1) : 0;
    }
  }
};

template <class T>
struct Sampling {
  int64_t images, channels, height, width, samples;
  bool bilinear;
  GridAxis<T> rows, columns;

  Sampling(const KernelInit& init, const Shape& x, const Shape& grid)
      : images(x[0]), channels(x[1]), height(x[2]), width(x[3]), samples(grid[1] * grid[2]),
        bilinear(init.attr<std::string>("mode") == "bilinear"), rows(axis(init, height)), columns(axis(init, width)) {}

  static GridAxis<T> axis(const KernelInit& init, int64_t size) {
    return {size, init.attr<bool>("align_corners"), init.attr<std::string>("padding_mode")};
  }

  // f(number of the sample among all, its places, offset of its first channel in X, in Output)
  template <class F>
  void each(const T* grid, F f) const {
    for (int64_t n = 0; n < images; ++n) {
      for (int64_t i = 0; i < samples; ++i) {
        int64_t at = n * samples + i;
        f(at, rows.place(grid[2 * at + 1]), columns.place(grid[2 * at]), n * channels * height * width,
          n * channels * samples + i);
      }
    }
  }

  // f(offset in a plane of X, weight, its slope along the rows, along the columns) for the pixels that a sample mixes
  template <class F>
  PM_HD void each_pixel(T y, T x, F f) const {
    if (!bilinear) {
      y = std::round(y), x = std::round(x);
      if (!(y >= T(0) && y < static_cast<T>(height) && x >= T(0) && x < static_cast<T>(width))) return;
      int64_t row = std::min(static_cast<int64_t>(y), height - 1);
      int64_t column = std::min(static_cast<int64_t>(x), width - 1);
      return f(row * width + column, T(1), T(0), T(0));
    }
    GridPair<T> vertical(y, height), horizontal(x, width);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        if (!vertical.there[i] || !horizontal.there[j]) continue;
        f(vertical.index[i] * width + horizontal.index[j], vertical.part[i] * horizontal.part[j],
          i ? horizontal.part[j] : -horizontal.part[j], j ? vertical.part[i] : -vertical.part[i]);
      }
    }
  }
};

}  // namespace paddle_mini

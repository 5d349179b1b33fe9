// grid_sampler: maps coordinates of a grid to positions in an image and to the pixels that are mixed there.
#pragma once

#include <algorithm>

#include "core/kernel.h"
#include "core/parallel.h"
#include "core/target.h"
#include "math/vec.h"

namespace paddle_mini {

// A coordinate of Grid as a position along an axis of X, and the position's derivative by the coordinate.
template <class T>
struct GridPlace {
  T at, speed;
};

// Maps coordinates along one axis: -1 and 1 are the centers of the outermost pixels (corners) or their outer edges.
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

  // Reflects positions at the outermost centers, or at the outer edges, which are half a pixel beyond the centers.
  PM_HD GridPlace<T> reflected(T at, T speed, T last) const {
    T half = corners_ ? T(0) : T(0.5), period = T(2) * (last + T(2) * half);
    if (period == T(0)) return {T(0), T(0)};
    T distance = std::abs(at + half), rest = distance - std::floor(distance / period) * period;
    bool before = at + half<T(0), flipped = rest> period - rest;
    if (before != flipped) speed = -speed;
    GridPlace<T> found{minimum(rest, period - rest) - half, speed};
    return corners_ ? found : clipped(found.at, found.speed, last);
  }

  int64_t size_;
  bool corners_, border_, reflects_;
};

// The two pixels around a position along an axis; `there`: whether they lie in X.
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

// The position of a sample along the axes of an image, innermost axis first, as in Grid: x, y, z.
template <class T>
struct SampledPlace {
  GridPlace<T> along[3];
};

// Images are [images, channels, depth, height, width]; with 4 dimensions the depth is 1 and contains all samples.
template <class T>
struct Sampling {
  int64_t images, channels, sizes[3], plane, samples;  // sizes: width, height, depth
  int axes, corners;  // coordinates of a sample; maximum number of pixels that it mixes
  bool linear;
  GridAxis<T> columns, rows, planes;

  Sampling(const KernelInit& init, const Shape& x, const Shape& grid)
      : images(x[0]), channels(x[1]), sizes{x[x.rank() - 1], x[x.rank() - 2], x.rank() == 5 ? x[2] : 1},
        plane(x.numel(2, x.rank())), samples(grid.numel(1, grid.rank() - 1)), axes(x.rank() - 2), corners(1 << axes),
        linear(init.attr<std::string>("mode") == "bilinear"), columns(axis(init, sizes[0])), rows(axis(init, sizes[1])),
        planes(axis(init, sizes[2])) {}

  static GridAxis<T> axis(const KernelInit& init, int64_t size) {
    return {size, init.attr<bool>("align_corners"), init.attr<std::string>("padding_mode")};
  }

  PM_HD SampledPlace<T> place(const T* grid, int64_t sample) const {
    const T* at = grid + sample * axes;
    return {{columns.place(at[0]), rows.place(at[1]), axes == 3 ? planes.place(at[2]) : GridPlace<T>{T(0), T(0)}}};
  }

  // On a CPU: calls f(number of the sample among all, its position, offset of its first channel in X, in Output) for
  // each sample. Samples of one image are in order on one thread if they share pixels of a gradient.
  template <class F>
  void each(KernelContext& context, const T* grid, bool shared, F f) const {
    constexpr double kCost = 10;  // nanoseconds for the pixels of one sample of a channel
    const LoopSize size{images * samples, kCost * static_cast<double>(channels + 1), shared ? samples : 1};
    parallel_for(context, size, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        int64_t n = at / samples, i = at % samples;
        f(at, place(grid, at), n * channels * plane, n * channels * samples + i);
      }
    });
  }

  // Calls f(offset in a channel of X, weight, its slopes along the axes) for each pixel that a sample mixes.
  template <class F>
  PM_HD void each_pixel(const SampledPlace<T>& at, F f) const {
    if (!linear) {
      int64_t pixel = 0;
      for (int a = 2; a >= 0; --a) {
        // As in PaddlePaddle, positions up to half a pixel around a volume lie outside of it, but around a plane
        // inside.
        T place = at.along[a].at, nearest = std::round(place), last = static_cast<T>(sizes[a] - 1);
        T inside = axes == 3 ? place : nearest;
        if (!(inside >= T(0) && inside <= last)) return;
        pixel = pixel * sizes[a] + std::min(static_cast<int64_t>(nearest), sizes[a] - 1);
      }
      const T none[3] = {T(0), T(0), T(0)};
      return f(pixel, T(1), none);
    }
    const GridPair<T> x(at.along[0].at, sizes[0]), y(at.along[1].at, sizes[1]), z(at.along[2].at, sizes[2]);
    for (int k = 0; k < (axes == 3 ? 2 : 1); ++k) {
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          if (!z.there[k] || !y.there[i] || !x.there[j]) continue;
          T in_plane = y.part[i] * x.part[j];
          const T slopes[3] = {(j ? y.part[i] : -y.part[i]) * z.part[k], (i ? x.part[j] : -x.part[j]) * z.part[k],
                               k ? in_plane : -in_plane};
          f((z.index[k] * sizes[1] + y.index[i]) * sizes[0] + x.index[j], in_plane * z.part[k], slopes);
        }
      }
    }
  }
};

}  // namespace paddle_mini

// The kernels of nearest_interp and nearest_interp_v2 on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/unravel_last.h"

namespace paddle_mini {
namespace {

// Images have the layout [outer, depth, height, width, inner]; each thread computes one pixel of Out.
template <class T>
struct NearestPixel {
  InterpolatedAxis depth, height, width;
  int64_t inner;
  bool round;
  const T* x;
  T* out;

  PM_DEVICE void operator()(int64_t o) const {
    int64_t left = o, channel = unravel_last(left, inner), column = unravel_last(left, width.out);
    int64_t row = nearest_place(height, round, unravel_last(left, height.out));
    int64_t plane = nearest_place(depth, round, unravel_last(left, depth.out));
    int64_t line = (left * depth.in + plane) * height.in + row;
    out[o] = x[(line * width.in + nearest_place(width, round, column)) * inner + channel];
  }
};

// Each thread sums the gradients of all output pixels that were copied from one pixel of X.
template <class T>
struct NearestShares {
  InterpolatedAxis depth, height, width;
  int64_t inner;
  bool round;
  const T* out_gradient;
  T* x_gradient;

  // The first output pixel whose source position is at least i.
  PM_DEVICE int64_t begin(const InterpolatedAxis& axis, int64_t i) const {
    int64_t low = 0, high = axis.out;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (nearest_place(axis, round, middle) < i) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, channel = unravel_last(left, inner), column = unravel_last(left, width.in);
    int64_t row = unravel_last(left, height.in), first_y = begin(height, row), first_x = begin(width, column);
    int64_t plane = unravel_last(left, depth.in), first_z = begin(depth, plane);
    T total = 0;
    for (int64_t z = first_z; z < depth.out && nearest_place(depth, round, z) == plane; ++z) {
      for (int64_t y = first_y; y < height.out && nearest_place(height, round, y) == row; ++y) {
        for (int64_t x = first_x; x < width.out && nearest_place(width, round, x) == column; ++x) {
          total += out_gradient[(((left * depth.out + z) * height.out + y) * width.out + x) * inner + channel];
        }
      }
    }
    x_gradient[i] = total;
  }
};

struct NearestPlaces {
  InterpolatedImages images;

  explicit NearestPlaces(const KernelInit& init) : images(init, "X") {}

  template <class T>
  void resize(KernelContext& context, const In<T>& x, const Out<T>& out) const {
    NearestPixel<T> pixel{images.depth,         images.height, images.width, images.inner,
                          images.align_corners, x.data(),      out.data()};
    for_each_index(context, out.numel(), pixel);
  }

  template <class T>
  void gather(KernelContext& context, const In<T>& out_gradient, const Out<T>& x_gradient) const {
    NearestShares<T> shares{images.depth,         images.height,       images.width,     images.inner,
                            images.align_corners, out_gradient.data(), x_gradient.data()};
    for_each_index(context, x_gradient.numel(), shares);
  }
};

}  // namespace
}  // namespace paddle_mini

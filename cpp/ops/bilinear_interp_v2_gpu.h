// GPU kernels of bilinear_interp_v2.
#pragma once

#include "math/copy.h"
#include "math/for_each_index.h"
#include "math/unravel_last.h"

namespace paddle_mini {
namespace {

// Images are [outer, height, width, inner]; each thread computes one pixel of the result.
template <class T>
struct BilinearMixture {
  InterpolatedAxis height, width;
  int64_t inner;
  bool half_pixels;
  const T* x;
  T* out;

  PM_DEVICE void operator()(int64_t o) const {
    int64_t left = o, channel = unravel_last(left, inner), column = unravel_last(left, width.out);
    BilinearPlace h = bilinear_place(height, half_pixels, unravel_last(left, height.out));
    BilinearPlace w = bilinear_place(width, half_pixels, column);
    const T* from = x + left * height.in * width.in * inner + channel;
    T y1 = static_cast<T>(h.to_first), y2 = static_cast<T>(h.to_second);
    T x1 = static_cast<T>(w.to_first), x2 = static_cast<T>(w.to_second);
    out[o] = from[(h.first * width.in + w.first) * inner] * (y1 * x1) +
             from[(h.second * width.in + w.first) * inner] * (y2 * x1) +
             from[(h.first * width.in + w.second) * inner] * (y1 * x2) +
             from[(h.second * width.in + w.second) * inner] * (y2 * x2);
  }
};

// Each thread sums the gradients that one pixel of X receives from all output pixels that use it.
template <class T>
struct BilinearShares {
  InterpolatedAxis height, width;
  int64_t inner;
  bool half_pixels;
  const T* out_gradient;
  T* x_gradient;

  // The first output whose second input position is at least i. The outputs that use i begin there and end before the
  // first output whose first input position exceeds i.
  PM_DEVICE int64_t begin(const InterpolatedAxis& axis, int64_t i) const {
    int64_t low = 0, high = axis.out;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (bilinear_place(axis, half_pixels, middle).second < i) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, channel = unravel_last(left, inner), column = unravel_last(left, width.in);
    int64_t row = unravel_last(left, height.in), first_y = begin(height, row), first_x = begin(width, column);
    const T* from = out_gradient + left * height.out * width.out * inner + channel;
    T total = 0;
    for (int64_t y = first_y; y < height.out; ++y) {
      BilinearPlace h = bilinear_place(height, half_pixels, y);
      if (h.first > row) break;
      for (int64_t x = first_x; x < width.out; ++x) {
        BilinearPlace w = bilinear_place(width, half_pixels, x);
        if (w.first > column) break;
        T g = from[(y * width.out + x) * inner];
        T y1 = static_cast<T>(h.to_first), y2 = static_cast<T>(h.to_second);
        T x1 = static_cast<T>(w.to_first), x2 = static_cast<T>(w.to_second);
        if (h.first == row && w.first == column) total += g * (y1 * x1);
        if (h.second == row && w.first == column) total += g * (y2 * x1);
        if (h.first == row && w.second == column) total += g * (y1 * x2);
        if (h.second == row && w.second == column) total += g * (y2 * x2);
      }
    }
    x_gradient[i] = total;
  }
};

struct BilinearPlaces {
  InterpolatedImages images;

  explicit BilinearPlaces(const KernelInit& init) : images(init, "X") {}

  template <class T>
  void resize(KernelContext& context, const In<T>& x, const Out<T>& out) const {
    if (images.same_size()) return copy_n(context, x.data(), x.numel(), out.data());
    BilinearMixture<T> mixture{images.height, images.width, images.inner, images.half_pixels, x.data(), out.data()};
    for_each_index(context, out.numel(), mixture);
  }

  template <class T>
  void gather(KernelContext& context, const In<T>& out_gradient, const Out<T>& x_gradient) const {
    if (images.same_size()) return copy_n(context, out_gradient.data(), out_gradient.numel(), x_gradient.data());
    BilinearShares<T> shares{images.height,      images.width,        images.inner,
                             images.half_pixels, out_gradient.data(), x_gradient.data()};
    for_each_index(context, x_gradient.numel(), shares);
  }
};

}  // namespace
}  // namespace paddle_mini

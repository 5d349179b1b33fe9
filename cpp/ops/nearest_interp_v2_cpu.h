// The kernels of nearest_interp and nearest_interp_v2 on a CPU.
#pragma once

#include "core/kept_array.h"
#include "math/copy.h"

namespace paddle_mini {
namespace {

KeptArray<int64_t> nearest_places_of(const InterpolatedAxis& axis, bool round) {
  KeptArray<int64_t> places;
  places.reserve(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) places.push_back(nearest_place(axis, round, i));
  return places;
}

// The source pixel in X of each pixel of Out.
struct NearestPlaces {
  InterpolatedImages images;
  KeptArray<int64_t> planes, rows, columns;

  explicit NearestPlaces(const KernelInit& init)
      : images(init, "X"), planes(nearest_places_of(images.depth, images.align_corners)),
        rows(nearest_places_of(images.height, images.align_corners)),
        columns(nearest_places_of(images.width, images.align_corners)) {}

  // Calls f(pixel of x, pixel of out); a pixel has `inner` elements.
  template <class X, class T, class F>
  void each(KernelContext& context, X* x, T* out, F f) const {
    images.each_block(context, 1, [&](int64_t x_block, int64_t out_block) {
      X* in = x + x_block;
      T* to = out + out_block;
      for (int64_t plane : planes) {
        for (int64_t row : rows) {
          X* line = in + (plane * images.height.in + row) * images.width.in * images.inner;
          for (int64_t column : columns) {
            f(line + column * images.inner, to);
            to += images.inner;
          }
        }
      }
    });
  }

  template <class T>
  void resize(KernelContext& context, const In<T>& x, const Out<T>& out) const {
    each(context, x.data(), out.data(), [n = images.inner](const T* from, T* to) { std::copy_n(from, n, to); });
  }

  template <class T>
  void gather(KernelContext& context, const In<T>& out_gradient, const Out<T>& x_gradient) const {
    fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    each(context, x_gradient.data(), out_gradient.data(), [n = images.inner](T* to, const T* from) {
      for (int64_t i = 0; i < n; ++i) to[i] += from[i];
    });
  }
};

}  // namespace
}  // namespace paddle_mini

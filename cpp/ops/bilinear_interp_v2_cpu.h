// CPU kernels of bilinear_interp and bilinear_interp_v2.
#pragma once

#include "core/kept_array.h"
#include "math/copy.h"

namespace paddle_mini {
namespace {

constexpr double kBilinearCost = 4;  // nanoseconds for one element of Out

KeptArray<BilinearPlace> bilinear_places_of(const InterpolatedAxis& axis, bool half_pixels) {
  KeptArray<BilinearPlace> places;
  places.reserve(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) places.push_back(bilinear_place(axis, half_pixels, i));
  return places;
}

struct BilinearPlaces {
  InterpolatedImages images;
  KeptArray<BilinearPlace> rows, columns;

  explicit BilinearPlaces(const KernelInit& init)
      : images(init, "X"), rows(bilinear_places_of(images.height, images.half_pixels)),
        columns(bilinear_places_of(images.width, images.half_pixels)) {}

  // Calls f(four offsets in the input, their weights, offset in the output) for each output pixel.
  template <class T, class F>
  void each(F f) const {
    int64_t out = 0, width = images.width.in, inner = images.inner;
    for (const BilinearPlace& y : rows) {
      for (const BilinearPlace& x : columns) {
        const int64_t at[4] = {(y.first * width + x.first) * inner, (y.second * width + x.first) * inner,
                               (y.first * width + x.second) * inner, (y.second * width + x.second) * inner};
        T y1 = static_cast<T>(y.to_first), y2 = static_cast<T>(y.to_second);
        T x1 = static_cast<T>(x.to_first), x2 = static_cast<T>(x.to_second);
        const T weights[4] = {y1 * x1, y2 * x1, y1 * x2, y2 * x2};
        f(at, weights, out);
        out += inner;
      }
    }
  }

  template <class T>
  void resize(KernelContext& context, const In<T>& x, const Out<T>& out) const {
    if (images.same_size()) return copy_n(context, x.data(), x.numel(), out.data());
    images.each_block(context, kBilinearCost, [&](int64_t x_block, int64_t out_block) {
      const T* from = x.data() + x_block;
      T* to = out.data() + out_block;
      each<T>([&](const int64_t* at, const T* weight, int64_t o) {
        for (int64_t i = 0; i < images.inner; ++i) {
          to[o + i] = from[at[0] + i] * weight[0] + from[at[1] + i] * weight[1] + from[at[2] + i] * weight[2] +
                      from[at[3] + i] * weight[3];
        }
      });
    });
  }

  template <class T>
  void gather(KernelContext& context, const In<T>& out_gradient, const Out<T>& x_gradient) const {
    if (images.same_size()) return copy_n(context, out_gradient.data(), out_gradient.numel(), x_gradient.data());
    fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    images.each_block(context, kBilinearCost, [&](int64_t x_block, int64_t out_block) {
      T* to = x_gradient.data() + x_block;
      const T* from = out_gradient.data() + out_block;
      each<T>([&](const int64_t* at, const T* weight, int64_t o) {
        for (int corner = 0; corner < 4; ++corner) {
          for (int64_t i = 0; i < images.inner; ++i) to[at[corner] + i] += from[o + i] * weight[corner];
        }
      });
    });
  }
};

}  // namespace
}  // namespace paddle_mini

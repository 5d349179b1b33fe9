// Resized images whose pixels mix taps along each axis: linear, trilinear and bicubic interpolation.
//
// Method::most is the largest number of taps along an axis, and Method::taps<T>(axis, align_corners, half_pixels, i) the
// taps of pixel i of Out. Taps ascend, and do not move backwards from one pixel to the next.
#pragma once

#include <algorithm>

#include "math/copy.h"
#include "math/for_each_index.h"
#include "math/unravel_last.h"
#include "ops/family/interpolate.h"

namespace paddle_mini {

template <class T, int most>
struct PixelTaps {
  int64_t at[most];
  T weight[most];
};

template <class Method>
struct TapGeometry {
  InterpolatedAxis axes[3];  // depth, height, width
  int64_t inner;
  bool corners, half_pixels;

  explicit TapGeometry(const InterpolatedImages& images)
      : axes{images.depth, images.height, images.width}, inner(images.inner), corners(images.align_corners),
        half_pixels(images.half_pixels) {}

  // An axis of one pixel in X and in Out is not interpolated; it may be missing.
  PM_HD int count(int axis) const { return axes[axis].in == 1 && axes[axis].out == 1 ? 1 : Method::most; }
  template <class T>
  PM_HD PixelTaps<T, Method::most> taps(int axis, int64_t i) const {
    if (count(axis) > 1) return Method::template taps<T>(axes[axis], corners, half_pixels, i);
    PixelTaps<T, Method::most> one{};
    one.weight[0] = T(1);
    return one;
  }
  // The first pixel of Out along the axis whose last tap is at least `pixel`.
  template <class T>
  PM_HD int64_t first_user(int axis, int64_t pixel) const {
    int64_t low = 0, high = axes[axis].out;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (taps<T>(axis, middle).at[count(axis) - 1] < pixel) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  // Adds the weights of the taps of pixel i of Out that are `pixel`; false beyond the last pixel that has such taps.
  template <class T>
  PM_HD bool weight_of(int axis, int64_t i, int64_t pixel, T* weight) const {
    if (i >= axes[axis].out) return false;
    PixelTaps<T, Method::most> found = taps<T>(axis, i);
    if (found.at[0] > pixel) return false;
    *weight = T(0);
    for (int tap = 0; tap < count(axis); ++tap) {
      if (found.at[tap] == pixel) *weight += found.weight[tap];
    }
    return true;
  }
};

template <class T, class Method>
struct MixedTaps {
  TapGeometry<Method> geometry;
  const T* x;
  T* out;

  PM_HD void operator()(int64_t o) const {
    const InterpolatedAxis* axes = geometry.axes;
    int64_t left = o, channel = unravel_last(left, geometry.inner), column = unravel_last(left, axes[2].out);
    int64_t row = unravel_last(left, axes[1].out), plane = unravel_last(left, axes[0].out);
    const auto z = geometry.template taps<T>(0, plane), y = geometry.template taps<T>(1, row);
    const auto w = geometry.template taps<T>(2, column);
    T total = 0;
    for (int k = 0; k < geometry.count(0); ++k) {
      for (int i = 0; i < geometry.count(1); ++i) {
        int64_t line = ((left * axes[0].in + z.at[k]) * axes[1].in + y.at[i]) * axes[2].in;
        T sum = 0;
        for (int j = 0; j < geometry.count(2); ++j) sum += x[(line + w.at[j]) * geometry.inner + channel] * w.weight[j];
        total += sum * (z.weight[k] * y.weight[i]);
      }
    }
    out[o] = total;
  }
};

// For each pixel of X, the sum over the pixels of Out that have a tap there.
template <class T, class Method>
struct SharesOfTaps {
  TapGeometry<Method> geometry;
  const T* out_gradient;
  T* x_gradient;

  PM_HD void operator()(int64_t at) const {
    const InterpolatedAxis* axes = geometry.axes;
    int64_t left = at, channel = unravel_last(left, geometry.inner), column = unravel_last(left, axes[2].in);
    int64_t row = unravel_last(left, axes[1].in), plane = unravel_last(left, axes[0].in);
    int64_t first_z = geometry.template first_user<T>(0, plane), first_y = geometry.template first_user<T>(1, row);
    int64_t first_x = geometry.template first_user<T>(2, column);
    T total = 0, to_z, to_y, to_x;
    for (int64_t k = first_z; geometry.weight_of(0, k, plane, &to_z); ++k) {
      for (int64_t i = first_y; geometry.weight_of(1, i, row, &to_y); ++i) {
        int64_t line = ((left * axes[0].out + k) * axes[1].out + i) * axes[2].out;
        T sum = 0;
        for (int64_t j = first_x; geometry.weight_of(2, j, column, &to_x); ++j) {
          sum += out_gradient[(line + j) * geometry.inner + channel] * to_x;
        }
        total += sum * (to_z * to_y);
      }
    }
    x_gradient[at] = total;
  }
};

// Places of InterpolationKernel (interpolate.h), on every device.
template <class Method>
struct TapPlaces {
  InterpolatedImages images;

  explicit TapPlaces(const KernelInit& init) : images(init, "X") {}

  template <class T>
  void resize(KernelContext& context, const In<T>& x, const Out<T>& out) const {
    if (images.same_size()) return copy_n(context, x.data(), x.numel(), out.data());
    for_each_index(context, out.numel(), MixedTaps<T, Method>{TapGeometry<Method>(images), x.data(), out.data()});
  }
  template <class T>
  void gather(KernelContext& context, const In<T>& out_gradient, const Out<T>& x_gradient) const {
    if (images.same_size()) return copy_n(context, out_gradient.data(), out_gradient.numel(), x_gradient.data());
    SharesOfTaps<T, Method> shares{TapGeometry<Method>(images), out_gradient.data(), x_gradient.data()};
    for_each_index(context, x_gradient.numel(), shares);
  }
};

constexpr const char* kTapGradientDoc =
    "X@GRAD = for each pixel of X, the sum of weight * Out@GRAD over the pixels of Out that read it.";

}  // namespace paddle_mini

// bicubic_interp, bicubic_interp_v2: resized images, in which each pixel mixes sixteen pixels of X around its position
#include "ops/family/tap_interpolation.h"

#include <cmath>

namespace paddle_mini {
namespace {

// Keys' cubic convolution (1981) with A = -3/4, for distances up to 1 and from 1 to 2.
template <class T>
PM_HD T cubic_near(T distance) {
  const T a = T(-0.75);
  return ((a + T(2)) * distance - (a + T(3))) * distance * distance + T(1);
}
template <class T>
PM_HD T cubic_far(T distance) {
  const T a = T(-0.75);
  return ((a * distance - T(5) * a) * distance + T(8) * a) * distance - T(4) * a;
}

// Taps outside of X are its outermost pixels.
struct CubicTaps {
  static constexpr int most = 4;
  template <class T>
  PM_HD static PixelTaps<T, most> taps(const InterpolatedAxis& axis, bool corners, bool, int64_t i) {
    T place = static_cast<T>(axis.ratio * static_cast<float>(i));
    if (!corners) { place = static_cast<T>(static_cast<double>(axis.ratio) * (static_cast<double>(i) + 0.5) - 0.5); }
    T below = std::floor(place), part = place - below;
    PixelTaps<T, most> found{
        {}, {cubic_far(part + T(1)), cubic_near(part), cubic_near(T(1) - part), cubic_far(T(2) - part)}};
    for (int tap = 0; tap < most; ++tap) {
      int64_t pixel = static_cast<int64_t>(below) - 1 + tap;
      found.at[tap] = std::min(std::max<int64_t>(pixel, 0), axis.in - 1);
    }
    return found;
  }
};

}  // namespace

void define_bicubic_interp_v2(OpTable& ops) {
  for (std::string type : {"bicubic_interp", "bicubic_interp_v2"}) {
    ops.add(interpolation(type, 2, 2)
                .doc(text("Out = the images of X resized by bicubic interpolation (Keys 1981): each pixel of Out is a "
                          "weighted sum of the sixteen pixels of X around its position. Pixel i has the position i (in "
                          "- 1) / (out - 1) with align_corners, else (i + 1/2) ratio - 1/2, with ",
                          ratio_of(type), "; align_mode is not read."))
                .on_gpu()
                .kernels<InterpolationKernel<TapPlaces<CubicTaps>>::For, float, double>());
    ops.add(ops.gradient_of(type)
                .doc(kTapGradientDoc)
                .kernels<InterpolationGradKernel<TapPlaces<CubicTaps>>::For, float, double>());
  }
}

}  // namespace paddle_mini

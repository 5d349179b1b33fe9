// linear_interp, trilinear_interp, and the same with _v2: resized lines and volumes, in which each pixel mixes the neighbours of its position
#include "core/widening.h"
#include "ops/family/linear_place.h"
#include "ops/family/tap_interpolation.h"

namespace paddle_mini {
namespace {

struct LinearTaps {
  static constexpr int most = 2;
  template <class T>
  PM_HD static PixelTaps<T, most> taps(const InterpolatedAxis& axis, bool, bool half_pixels, int64_t i) {
    BilinearPlace place = bilinear_place(axis, half_pixels, i);
    return {{place.first, place.second}, {static_cast<T>(place.to_first), static_cast<T>(place.to_second)}};
  }
};

void define_linear(OpTable& ops, const std::string& type, int axes, const std::string& mixture) {
  ops.add(
      also({DType::UInt8},
           interpolation(type, axes, axes)
               .doc("Out = X resized by " + type.substr(0, type.find('_')) +
                    " interpolation: each pixel of Out is a weighted sum of the " + mixture +
                    " pixels of X around its position. Pixel i has the position i (in - 1) / (out - 1) "
                    "with align_corners, else (i + 1/2) ratio - 1/2 (align_mode 0) or i ratio (align_mode 1), with " +
                    ratio_of(type) + ".")
               .on_gpu()
               .kernels<InterpolationKernel<TapPlaces<LinearTaps>>::For, float, double>()));
  ops.add(ops.gradient_of(type)
              .doc(kTapGradientDoc)
              .kernels<InterpolationGradKernel<TapPlaces<LinearTaps>>::For, float, double>());
}

}  // namespace

void define_linear_interp_v2(OpTable& ops) {
  for (std::string version : {"_interp", "_interp_v2"}) {
    define_linear(ops, "linear" + version, 1, "two");
    define_linear(ops, "trilinear" + version, 3, "eight");
  }
}

}  // namespace paddle_mini

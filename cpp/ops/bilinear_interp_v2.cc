// bilinear_interp_v2: resized images, in which each pixel mixes the four pixels of X around its position
#include "core/target.h"
#include "core/widening.h"
#include "ops/family/interpolate.h"

#include <algorithm>

namespace paddle_mini {
namespace {

// The two rows or columns of the input between which a row or column of the output lies.
struct BilinearPlace {
  int64_t first, second;
  float to_first, to_second;  // their weights
};

PM_HD inline BilinearPlace bilinear_place(const InterpolatedAxis& axis, bool half_pixels, int64_t i) {
  float at = axis.ratio * static_cast<float>(i);
  if (half_pixels) {
    at = static_cast<float>(static_cast<double>(axis.ratio) * (static_cast<double>(i) + 0.5) - 0.5);
    at = std::max(at, 0.0f);
  }
  int64_t first = std::min(static_cast<int64_t>(at), axis.in - 1), second = std::min(first + 1, axis.in - 1);
  float part = at - static_cast<float>(first);
  return {first, second, 1.0f - part, part};
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(bilinear_interp_v2)

namespace paddle_mini {

void define_bilinear_interp_v2(OpTable& ops) {
  ops.add(also({DType::UInt8},
               interpolation("bilinear", 2)
                   .doc("Out = the images of X resized by bilinear interpolation: each pixel of Out is a weighted sum "
                        "of the four pixels of X around its position. Pixel i has the position i (in - 1) / (out - 1) "
                        "with align_corners, else (i + 1/2) ratio - 1/2 (align_mode 0) or i ratio (align_mode 1), with "
                        "ratio 1 / scale or in / out.")
                   .on_gpu()
                   .kernels<InterpolationKernel<BilinearPlaces>::For, float, double>()));
  ops.add(ops.gradient_of("bilinear_interp_v2")
              .doc("X@GRAD = for each pixel of X, the sum of weight * Out@GRAD over the pixels of Out that read it.")
              .kernels<InterpolationGradKernel<BilinearPlaces>::For, float, double>());
}

}  // namespace paddle_mini

// bilinear_interp, bilinear_interp_v2: resized images, in which each pixel mixes the four pixels of X around its position
#include "core/widening.h"
#include "ops/family/linear_place.h"

#include PM_KERNELS(bilinear_interp_v2)

namespace paddle_mini {

void define_bilinear_interp_v2(OpTable& ops) {
  for (std::string type : {"bilinear_interp", "bilinear_interp_v2"}) {
    ops.add(also({DType::UInt8},
                 interpolation(type, 2, 2)
                     .doc(text("Out = the images of X resized by bilinear interpolation: each pixel of Out is a "
                               "weighted sum of the four pixels of X around its position. Pixel i has the position "
                               "i (in - 1) / (out - 1) with align_corners, else (i + 1/2) ratio - 1/2 (align_mode 0) "
                               "or i ratio (align_mode 1), with ",
                               ratio_of(type), "."))
                     .on_gpu()
                     .kernels<InterpolationKernel<BilinearPlaces>::For, float, double>()));
    ops.add(ops.gradient_of(type)
                .doc("X@GRAD = for each pixel of X, the sum of weight * Out@GRAD over the pixels of Out that read it.")
                .kernels<InterpolationGradKernel<BilinearPlaces>::For, float, double>());
  }
}

}  // namespace paddle_mini

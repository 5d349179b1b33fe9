// nearest_interp, nearest_interp_v2: resized images; each pixel is the pixel of X nearest to its position
#include "core/target.h"
#include "ops/family/interpolate.h"

#include <algorithm>

namespace paddle_mini {
namespace {

PM_HD inline int64_t nearest_place(const InterpolatedAxis& axis, bool round, int64_t i) {
  double at = static_cast<double>(axis.ratio * static_cast<float>(i)) + (round ? 0.5 : 0.0);
  return std::min(static_cast<int64_t>(at), axis.in - 1);
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(nearest_interp_v2)

namespace paddle_mini {

void define_nearest_interp_v2(OpTable& ops) {
  for (const auto& [type, most_axes] : {std::pair<std::string, int>("nearest_interp", 2), {"nearest_interp_v2", 3}}) {
    ops.add(interpolation(type, 2, most_axes)
                .doc(text("Out = the images of X resized by nearest-neighbour interpolation: pixel i of Out is the "
                          "pixel of X at i (in - 1) / (out - 1) + 1/2 with align_corners, else at i ratio, rounded "
                          "down, with ",
                          ratio_of(type), "."))
                .on_gpu()
                .kernels<InterpolationKernel<NearestPlaces>::For, float, double, int32_t, int64_t>());
    ops.add(ops.gradient_of(type)
                .doc("X@GRAD = for each pixel of X, the sum of Out@GRAD over the pixels of Out that copy it.")
                .kernels<InterpolationGradKernel<NearestPlaces>::For, float, double>());
  }
}

}  // namespace paddle_mini

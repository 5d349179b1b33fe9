// deformable_conv: a convolution whose taps are moved by offsets, times Mask
#include "ops/family/deformable.h"

namespace paddle_mini {

void define_deformable_conv(OpTable& ops) {
  add_deformable_conv(
      ops, "deformable_conv",
      "A convolution whose taps read between pixels, by bilinear interpolation, where Offset moves them, times "
      "Mask; 0 outside of the image. Zhu et al., Deformable ConvNets v2, CVPR 2019.",
      true);
}

}  // namespace paddle_mini

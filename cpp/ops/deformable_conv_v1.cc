// deformable_conv_v1: a convolution whose taps are moved by offsets, without Mask
#include "ops/family/deformable.h"

namespace paddle_mini {

void define_deformable_conv_v1(OpTable& ops) {
  add_deformable_conv(
      ops, "deformable_conv_v1",
      "A convolution whose taps read between pixels, by bilinear interpolation, where Offset moves them; 0 outside of "
      "the image. Dai et al., Deformable Convolutional Networks, ICCV 2017.",
      false);
}

}  // namespace paddle_mini

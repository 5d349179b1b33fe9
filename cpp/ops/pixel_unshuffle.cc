// pixel_unshuffle: pixels become channels: [N, C, H r, W r] to [N, C r r, H, W]
#include "ops/family/pixel_shuffle.h"

namespace paddle_mini {

void define_pixel_unshuffle(OpTable& ops) {
  add_pixel_shuffle<false>(
      ops, OpSchema("pixel_unshuffle")
               .doc("Out[n, (c r + i) r + j, y, x] = X[n, c, y r + i, x r + j] with r = downscale_factor.")
               .attr("downscale_factor", 1, "factor by which height and width shrink", between(1, 1 << 15))
               .input("X", "[images, channels, height r, width r], or channels last according to data_format")
               .output("Out", "[images, channels r r, height, width], or channels last"));
}

}  // namespace paddle_mini

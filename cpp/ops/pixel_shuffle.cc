// pixel_shuffle: channels become pixels: [N, C r r, H, W] to [N, C, H r, W r]
#include "ops/family/pixel_shuffle.h"

namespace paddle_mini {

void define_pixel_shuffle(OpTable& ops) {
  add_pixel_shuffle<true>(
      ops,
      OpSchema("pixel_shuffle")
          .doc("Out[n, c, y r + i, x r + j] = X[n, (c r + i) r + j, y, x] with r = upscale_factor (Shi et al. 2016).")
          .input("X", "[images, channels r r, height, width], or channels last according to data_format")
          .output("Out", "[images, channels, height r, width r], or channels last")
          .attr("upscale_factor", 1, "factor by which height and width grow", between(1, 1 << 15)));
}

}  // namespace paddle_mini

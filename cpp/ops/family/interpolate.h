// Images of another size: the operators *_interp_v2. Shapes, positions and what all their schemas say.
#pragma once

#include <string>
#include <vector>

#include "core/op_table.h"

namespace paddle_mini {

// One axis of an image: how large it becomes, and how far the input moves with each step of the output.
struct InterpolatedAxis {
  int64_t in, out;
  float ratio;  // PaddlePaddle reckons positions in float32
};

// Images as [outer, depth, height, width, inner]: inner is 1 where channels come before the pixels, depth where X has 4
// dimensions.
struct InterpolatedImages {
  int64_t outer, inner;
  InterpolatedAxis depth, height, width;
  bool align_corners, half_pixels;  // half_pixels: centers of pixels lie over each other

  InterpolatedImages(const KernelInit& init, const char* images);
  bool same_size() const { return depth.in == depth.out && height.in == height.out && width.in == width.out; }
  // f(block of x, block of out) for each of `outer`, [depth, height, width, inner] each
  template <class T, class X, class F>
  void each_block(X* x, T* out, F f) const {
    int64_t from = depth.in * height.in * width.in * inner, to = depth.out * height.out * width.out * inner;
    for (int64_t o = 0; o < outer; ++o) f(x + o * from, out + o * to);
  }
};

// Records without doc and kernels; method: "bilinear" or "nearest". most_axes: of pixels, 2 or 3.
OpSchema interpolation(const std::string& method, int most_axes);

}  // namespace paddle_mini

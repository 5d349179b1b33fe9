// Images of another size: the operators *_interp_v2. Shapes, positions and what all their records say.
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

// Images as [outer, height, width, inner]: inner is 1 where channels come before the pixels.
struct InterpolatedImages {
  int64_t outer, inner;
  InterpolatedAxis height, width;
  bool align_corners, half_pixels;  // half_pixels: centers of pixels lie over each other

  InterpolatedImages(const KernelInit& init, const char* images);
  bool same_size() const { return height.in == height.out && width.in == width.out; }
  // f(block of x, block of out) for each of `outer`, [height, width, inner] each
  template <class T, class X, class F>
  void each_block(X* x, T* out, F f) const {
    int64_t from = height.in * width.in * inner, to = height.out * width.out * inner;
    for (int64_t o = 0; o < outer; ++o) f(x + o * from, out + o * to);
  }
};

// Records that lack doc and kernels; method: "bilinear" or "nearest".
OpSpec interpolation(const std::string& method);
OpSpec interpolation_gradient(const std::string& method);

}  // namespace paddle_mini

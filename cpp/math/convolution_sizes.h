// ConvolutionSizes: the sizes of a convolution of images [images, channels, height, width] with filters.
#pragma once

#include "math/window.h"

namespace paddle_mini {

struct ConvolutionSizes {
  int64_t images = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // per group
  WindowAxis height, width;

  int64_t taps() const { return in_channels * height.window * width.window; }  // taps per filter
  int64_t plane() const { return height.size * width.size; }
  int64_t pixels() const { return height.out * width.out; }
  int64_t image_size() const { return groups * in_channels * plane(); }
  int64_t out_size() const { return groups * out_channels * pixels(); }

  // Whether every output reads the pixel at its own place.
  bool is_pointwise() const {
    auto is_point = [](const WindowAxis& axis) {
      return axis.window == 1 && axis.stride == 1 && axis.before == 0 && axis.out == axis.size;
    };
    return is_point(height) && is_point(width);
  }
};

}  // namespace paddle_mini

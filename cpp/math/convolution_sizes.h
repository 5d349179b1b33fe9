// ConvolutionSizes: the sizes of a convolution of images [images, channels, height, width] with filters.
#pragma once

#include "math/window.h"

namespace paddle_mini {

// So many parts of that size, the last of which may be smaller, are `size`.
inline int64_t parts_of(int64_t size, int64_t part) { return (size + part - 1) / part; }

// The results of a kernel: the output, and its gradients by the image and by the filters.
struct ConvolutionResults {
  bool output = false, by_input = false, by_filter = false;
};

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

  // The convolution whose outputs are the gradient of this one's images. It reads gradients of outputs `stride` apart, with
  // zeros between them, and the filters with the channels interchanged and the taps reversed. Its padding may be negative.
  ConvolutionSizes by_input() const {
    auto axis = [](const WindowAxis& a) {
      const int64_t reach = (a.window - 1) * a.dilation, size = (a.out - 1) * a.stride + 1, before = reach - a.before;
      return WindowAxis{size, a.window, 1, a.dilation, before, a.size + reach - size - before, a.size};
    };
    return {images, groups, out_channels, in_channels, axis(height), axis(width)};
  }

  // The same convolution; pixels that are independent of each other form one row.
  ConvolutionSizes in_one_row() const {
    ConvolutionSizes row = *this;
    if (!is_pointwise()) return row;
    row.width.size = row.width.out = plane();
    row.height.size = row.height.out = 1;
    return row;
  }
};

}  // namespace paddle_mini

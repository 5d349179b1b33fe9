// Windows that slide over the two spatial axes of an image: geometry shared by convolution and pooling.
#pragma once

#include <array>
#include <vector>

#include "core/infer.h"

namespace paddle_mini {

// One axis: output o reads the inputs o * stride - before + tap * dilation for every tap of the window.
struct WindowAxis {
  int64_t size = 1, window = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // padding
  int64_t out = 1;

  int64_t first(int64_t o) const { return o * stride - before; }
  // The outputs [begin, end) whose input for this tap is inside of the image.
  int64_t begin_of(int64_t tap) const;
  int64_t end_of(int64_t tap) const;
};

// The attributes strides, paddings, padding_algorithm, dilations and ceil_mode.
struct WindowAttributes {
  std::array<int64_t, 2> strides{1, 1}, dilations{1, 1};
  std::array<int64_t, 4> paddings{0, 0, 0, 0};  // top, bottom, left, right
  std::string algorithm = "EXPLICIT";           // or SAME, VALID, with PaddlePaddle's rules
  bool ceil_mode = false;

  void set_strides(const std::vector<int32_t>& values);
  void set_dilations(const std::vector<int32_t>& values);
  void set_paddings(const std::vector<int32_t>& values);  // 2 or 4 numbers

  // Both axes, height then width, for an image and a window of these sizes. If a size is unknown (-1), so is the
  // output. Throws if the window does not fit.
  std::array<WindowAxis, 2> axes(int64_t height, int64_t width, int64_t window_height, int64_t window_width) const;

 private:
  WindowAxis axis(int i, int64_t size, int64_t window) const;
};

// From a convolution's attributes. Context is InferContext or KernelInit.
template <class Context>
WindowAttributes window_attributes(const Context& c) {
  WindowAttributes window;
  window.set_strides(c.template attr<std::vector<int32_t>>("strides"));
  window.set_dilations(c.template attr<std::vector<int32_t>>("dilations"));
  window.set_paddings(c.template attr<std::vector<int32_t>>("paddings"));
  window.algorithm = c.template attr<std::string>("padding_algorithm");
  return window;
}

}  // namespace paddle_mini

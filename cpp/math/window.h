// Windows that slide over the spatial axes of images and volumes: geometry shared by convolution and pooling.
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

// A window's attributes, for the axes of an image or a volume.
struct WindowAttributes {
  std::vector<int32_t> strides, dilations;  // one number for each axis
  std::vector<int32_t> paddings;            // one number for each axis, or two: before and after it
  std::string algorithm = "EXPLICIT";       // or SAME, VALID, with PaddlePaddle's rules
  bool ceil_mode = false;

  explicit WindowAttributes(size_t axes) : strides(axes, 1), dilations(axes, 1), paddings(axes, 0) {}

  void check(size_t axes) const;  // throws unless all numbers are valid, and as many as the axes need
  // The stride, dilation and padding of axis i, without its sizes.
  WindowAxis unsized_axis(size_t i, int64_t window) const;

  // All axes, for an input and a window of these sizes. If a size is unknown (-1), so is the output. Throws if the
  // window does not fit.
  template <size_t n>
  std::array<WindowAxis, n> axes(const std::array<int64_t, n>& sizes, const std::array<int64_t, n>& windows) const {
    check(n);
    std::array<WindowAxis, n> all;
    for (size_t i = 0; i < n; ++i) all[i] = axis(i, sizes[i], windows[i]);
    return all;
  }

 private:
  WindowAxis axis(size_t i, int64_t size, int64_t window) const;
};

// From a convolution's attributes. Context is InferContext or KernelInit.
template <class Context>
WindowAttributes convolution_window(const Context& c, size_t axes) {
  WindowAttributes window(axes);
  window.strides = c.template attr<std::vector<int32_t>>("strides");
  window.dilations = c.template attr<std::vector<int32_t>>("dilations");
  window.paddings = c.template attr<std::vector<int32_t>>("paddings");
  window.algorithm = c.template attr<std::string>("padding_algorithm");
  return window;
}

}  // namespace paddle_mini

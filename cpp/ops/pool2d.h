// The windows of pool2d, computed from its attributes.
#pragma once

#include "math/pooled_axis.h"
#include "math/vec.h"

namespace paddle_mini {

// The window axes for height and width; an unknown size gives an unknown output size.
template <class Context>
std::array<WindowAxis, 2> pooling_axes(const Context& c, const Shape& x) {
  auto numbers = [&c](const char* name) { return c.template attr<std::vector<int32_t>>(name); };
  WindowAttributes window;
  window.set_strides(numbers("strides"));
  window.set_paddings(numbers("paddings"));
  window.algorithm = c.template attr<std::string>("padding_algorithm");
  window.ceil_mode = c.template attr<bool>("ceil_mode");
  if (c.template attr<bool>("global_pooling")) {
    window = WindowAttributes();
    return window.axes(x[2], x[3], std::max<int64_t>(x[2], 1), std::max<int64_t>(x[3], 1));
  }
  std::vector<int32_t> size = numbers("ksize");
  require<ProgramError>(size.size() == 2, "attribute 'ksize' has ", size.size(), " numbers, it must have 2");
  for (int32_t k : size) require<ProgramError>(k >= 1, "attribute 'ksize' holds ", k, ", it must be at least 1");
  if (!c.template attr<bool>("adaptive")) return window.axes(x[2], x[3], size[0], size[1]);
  std::array<WindowAxis, 2> axes;
  for (int i : {0, 1}) {
    axes[i].size = x[2 + i];
    axes[i].out = size[i];
  }
  return axes;
}

}  // namespace paddle_mini

// Sizes and paddings of sliding windows.
#include "math/window.h"

#include <algorithm>

namespace paddle_mini {
namespace {

void require_numbers(const std::vector<int32_t>& values, const char* name, int32_t least) {
  for (int32_t value : values) {
    require<ProgramError>(value >= least, "attribute '", name, "' holds ", value, ", it must be at least ", least);
  }
}

}  // namespace

int64_t WindowAxis::begin_of(int64_t tap) const {
  int64_t outside = before - tap * dilation;  // input >= 0 if o * stride >= outside
  return std::min(out, outside > 0 ? (outside + stride - 1) / stride : 0);
}

int64_t WindowAxis::end_of(int64_t tap) const {
  int64_t last = size - 1 + before - tap * dilation;  // input < size if o * stride <= last
  return last < 0 ? begin_of(tap) : std::max(begin_of(tap), std::min(out, last / stride + 1));
}

void WindowAttributes::check(size_t axes) const {
  auto require_count = [axes](const std::vector<int32_t>& values, const char* name) {
    require<ProgramError>(values.size() == axes, "attribute '", name, "' has ", values.size(),
                          " numbers, it must have ", axes);
    require_numbers(values, name, 1);
  };
  require_count(strides, "strides");
  require_count(dilations, "dilations");
  require<ProgramError>(paddings.size() == axes || paddings.size() == 2 * axes, "attribute 'paddings' has ",
                        paddings.size(), " numbers, it must have ", axes, ", one for each axis, or ", 2 * axes,
                        ", before and after each axis");
  require_numbers(paddings, "paddings", 0);
}

WindowAxis WindowAttributes::unsized_axis(size_t i, int64_t window) const {
  bool pairs = paddings.size() > strides.size();
  WindowAxis a{-1, window, strides[i], dilations[i], paddings[pairs ? 2 * i : i], paddings[pairs ? 2 * i + 1 : i], -1};
  if (algorithm == "VALID") a.before = a.after = 0;
  return a;
}

WindowAxis WindowAttributes::axis(size_t i, int64_t size, int64_t window) const {
  WindowAxis a = unsized_axis(i, window);
  a.size = size;
  if (size < 0 || window < 0) return a;
  if (algorithm == "SAME") {
    // One output for each stride that begins in the image; excess padding goes after the image. PaddlePaddle ignores
    // the dilation here.
    a.dilation = 1;
    int64_t total = std::max<int64_t>((size + a.stride - 1) / a.stride * a.stride - a.stride + window - size, 0);
    a.before = total / 2;
    a.after = total - a.before;
  }
  int64_t span = a.dilation * (window - 1) + 1, room = size + a.before + a.after - span;
  require<ShapeError>(room >= 0, "a window that spans ", span, " does not fit into ", size, " and paddings of ",
                      a.before, " and ", a.after);
  a.out = (room + (ceil_mode ? a.stride - 1 : 0)) / a.stride + 1;
  return a;
}

}  // namespace paddle_mini

// Sizes and paddings of sliding windows.
#include "math/window.h"

#include <algorithm>

namespace paddle_mini {
namespace {

std::array<int64_t, 2> two(const std::vector<int32_t>& values, const char* name) {
  require<ProgramError>(values.size() == 2, "attribute '", name, "' has ", values.size(), " numbers, it must have 2");
  for (int32_t value : values)
    require<ProgramError>(value >= 1, "attribute '", name, "' holds ", value, ", it must be at least 1");
  return {values[0], values[1]};
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

void WindowAttributes::set_strides(const std::vector<int32_t>& values) { strides = two(values, "strides"); }
void WindowAttributes::set_dilations(const std::vector<int32_t>& values) { dilations = two(values, "dilations"); }

void WindowAttributes::set_paddings(const std::vector<int32_t>& values) {
  require<ProgramError>(values.size() == 2 || values.size() == 4, "attribute 'paddings' has ", values.size(),
                        " numbers, it must have 2 (height, width) or 4 (above, below, left, right)");
  for (int32_t value : values)
    require<ProgramError>(value >= 0, "attribute 'paddings' holds ", value, ", it must be at least 0");
  if (values.size() == 2) paddings = {values[0], values[0], values[1], values[1]};
  else paddings = {values[0], values[1], values[2], values[3]};
}

WindowAxis WindowAttributes::axis(int i, int64_t size, int64_t window) const {
  WindowAxis a{size, window, strides[i], dilations[i], paddings[2 * i], paddings[2 * i + 1], -1};
  if (algorithm == "VALID") a.before = a.after = 0;
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

std::array<WindowAxis, 2> WindowAttributes::axes(int64_t height, int64_t width, int64_t window_height,
                                                 int64_t window_width) const {
  return {axis(0, height, window_height), axis(1, width, window_width)};
}

}  // namespace paddle_mini

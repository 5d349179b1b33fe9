// The input range of each output of a pooled axis.
#pragma once

#include <algorithm>
#include <vector>

#include "core/kept_array.h"
#include "core/target.h"
#include "math/volume.h"

namespace paddle_mini {

// The inputs [begin, end), and their number including padding.
struct PooledRange {
  int64_t begin, end, padded;
};

// Whether the windows are computed from the sizes of the output: as many windows as outputs, of nearly equal size;
// neighbours may overlap by one element.
template <class Context>
bool is_adaptive_pooling(const Context& c) {
  return c.template attr<bool>("adaptive") && !c.template attr<bool>("global_pooling");
}

// The axes of pooling; an unknown size gives an unknown output size. With global_pooling, the window is the whole input.
template <size_t n, class Context>
std::array<WindowAxis, n> pooled_axes(const Context& c, const WindowAttributes& window,
                                      const std::array<int64_t, n>& sizes) {
  if (c.template attr<bool>("global_pooling")) return WindowAttributes(n).axes(sizes, sizes);
  const std::vector<int32_t>& ksize = c.template attr<std::vector<int32_t>>("ksize");
  require<ProgramError>(ksize.size() == n, "attribute 'ksize' has ", ksize.size(), " numbers, it must have ", n);
  for (int32_t k : ksize) require<ProgramError>(k >= 1, "attribute 'ksize' holds ", k, ", it must be at least 1");
  std::array<int64_t, n> windows;
  std::copy_n(ksize.begin(), n, windows.begin());
  if (!is_adaptive_pooling(c)) return window.axes(sizes, windows);
  std::array<WindowAxis, n> axes;
  for (size_t i = 0; i < n; ++i) axes[i].size = sizes[i], axes[i].out = windows[i];
  return axes;
}

// The same with the window of pool2d and pool3d.
template <size_t n, class Context>
std::array<WindowAxis, n> pooled_axes(const Context& c, const std::array<int64_t, n>& sizes) {
  WindowAttributes window(n);
  window.strides = c.template attr<std::vector<int32_t>>("strides");
  window.paddings = c.template attr<std::vector<int32_t>>("paddings");
  window.algorithm = c.template attr<std::string>("padding_algorithm");
  window.ceil_mode = c.template attr<bool>("ceil_mode");
  return pooled_axes(c, window, sizes);
}

PM_HD inline PooledRange pooled_range(const WindowAxis& axis, bool adaptive, int64_t o) {
  if (adaptive) {
    int64_t begin = o * axis.size / axis.out, end = ((o + 1) * axis.size + axis.out - 1) / axis.out;
    return {begin, end, end - begin};
  }
  // PaddlePaddle counts the padding after the volume as if it were as wide as the padding before it.
  int64_t first = o * axis.stride - axis.before, last = std::min(first + axis.window, axis.size + axis.before);
  int64_t begin = std::min(std::max<int64_t>(first, 0), axis.size);
  int64_t end = std::max(std::min(last, axis.size), begin);
  return {begin, end, std::max<int64_t>(last - first, 1)};
}

inline KeptArray<PooledRange> pooled_ranges(const WindowAxis& axis, bool adaptive) {
  KeptArray<PooledRange> ranges;
  ranges.reserve(static_cast<size_t>(axis.out));
  for (int64_t o = 0; o < axis.out; ++o) ranges.push_back(pooled_range(axis, adaptive, o));
  return ranges;
}

// Iterates over the windows of a volume: f(ranges of depth, height and width, index of the output).
struct PooledVolume {
  std::array<KeptArray<PooledRange>, 3> ranges;

  PooledVolume(const VolumeAxes& axes, bool adaptive)
      : ranges{pooled_ranges(axes[0], adaptive), pooled_ranges(axes[1], adaptive), pooled_ranges(axes[2], adaptive)} {}

  template <class F>
  void each_window(F f) const {
    int64_t at = 0;
    for (const PooledRange& z : ranges[0]) {
      for (const PooledRange& y : ranges[1]) {
        for (const PooledRange& x : ranges[2]) f(z, y, x, at++);
      }
    }
  }
  int64_t outputs() const {
    return static_cast<int64_t>(ranges[0].size()) * static_cast<int64_t>(ranges[1].size()) *
           static_cast<int64_t>(ranges[2].size());
  }
};

}  // namespace paddle_mini

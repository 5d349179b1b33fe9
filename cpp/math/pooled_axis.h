// The input range of each output of a pooled axis.
#pragma once

#include <algorithm>
#include <vector>

#include "core/target.h"
#include "math/volume.h"

namespace paddle_mini {

// The inputs [begin, end), and their number including padding.
struct PooledRange {
  int64_t begin, end, padded;
};

// Window sizes from `ksize`; global: the window covers the whole volume.
inline std::array<int64_t, 3> pool_windows(const std::vector<int32_t>& ksize, const std::array<int64_t, 3>& sizes,
                                           bool global) {
  if (global) return {sizes[0], sizes[1], sizes[2]};
  for (int32_t k : ksize) require<ProgramError>(k >= 1, "attribute 'ksize' holds ", k, ", it must be at least 1");
  require<ProgramError>(ksize.size() == 3, "attribute 'ksize' has ", ksize.size(), " numbers, it must have 3");
  return {ksize[0], ksize[1], ksize[2]};
}

// Adaptive pooling: as many windows as outputs, of nearly equal size; neighbours may overlap by one element.
inline VolumeAxes adaptive_axes(const std::array<int64_t, 3>& sizes, const std::array<int64_t, 3>& outputs) {
  VolumeAxes axes;
  for (size_t i = 0; i < 3; ++i) {
    axes[i].size = sizes[i];
    axes[i].out = outputs[i];
  }
  return axes;
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

inline std::vector<PooledRange> pooled_ranges(const WindowAxis& axis, bool adaptive) {
  std::vector<PooledRange> ranges;
  for (int64_t o = 0; o < axis.out; ++o) ranges.push_back(pooled_range(axis, adaptive, o));
  return ranges;
}

// Iterates over the windows of a volume: f(ranges of depth, height and width, index of the output).
struct PooledVolume {
  std::array<std::vector<PooledRange>, 3> ranges;

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

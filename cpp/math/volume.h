// Windows that move over volumes [images, channels, depth, height, width], or over images as volumes of depth 1.
#pragma once

#include "core/kernel.h"
#include "math/window.h"

namespace paddle_mini {

using VolumeAxes = std::array<WindowAxis, 3>;  // depth, height, width

// What the attributes say of a window, three numbers each.
struct VolumeWindow {
  std::vector<int32_t> strides{1, 1, 1}, dilations{1, 1, 1};
  std::vector<int32_t> paddings{0, 0, 0};  // or six: before and after along each axis
  std::string algorithm = "EXPLICIT";
  bool ceil_mode = false;

  // Where a size is unknown (-1) so is the output.
  VolumeAxes axes(const std::array<int64_t, 3>& sizes, const std::array<int64_t, 3>& windows) const;
};

// How a tensor of rank 5 holds volumes.
struct VolumeLayout {
  int64_t images, channels;
  std::array<int64_t, 3> sizes;
  bool channels_last;

  VolumeLayout(const Shape& x, const std::string& data_format);
  Shape with(int64_t new_channels, const std::array<int64_t, 3>& new_sizes) const;
};

// Patches of one image as a matrix [channels taps, outputs] and back; elements that lie in the padding are 0.
struct VolumePatches {
  VolumeAxes axes;
  int64_t channels = 0;      // that the patches hold
  int64_t channel_step = 0;  // from a channel to the next one in the image
  int64_t pixel_step = 1;    // from a pixel to the next one in its row

  int64_t rows() const { return channels * axes[0].window * axes[1].window * axes[2].window; }
  int64_t outputs() const { return axes[0].out * axes[1].out * axes[2].out; }
  int64_t elements() const { return Shape{rows(), outputs()}.numel(); }

  template <class T>
  void gather(const T* image, T* columns) const;
  // Each element of the image gets the sum of its places in the matrix on top of what it holds.
  template <class T>
  void add_back(const T* columns, T* image) const;

 private:
  template <class F>
  void each_line(F f) const;
};

}  // namespace paddle_mini

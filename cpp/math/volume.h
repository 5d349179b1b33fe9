// Windows that slide over volumes [images, channels, depth, height, width], or over images as volumes of depth 1.
#pragma once

#include "core/kernel.h"
#include "math/window.h"

namespace paddle_mini {

using VolumeAxes = std::array<WindowAxis, 3>;  // depth, height, width

// Interprets a tensor of rank 5 as volumes.
struct VolumeLayout {
  int64_t images, channels;
  std::array<int64_t, 3> sizes;
  bool channels_last;

  VolumeLayout(const Shape& x, const std::string& data_format);
  Shape with(int64_t new_channels, const std::array<int64_t, 3>& new_sizes) const;
};

// im2col: patches of one image as a matrix [channels taps, outputs], and back; padding elements are 0.
struct VolumePatches {
  VolumeAxes axes;
  int64_t channels = 0;      // in the patches
  int64_t channel_step = 0;  // stride between channels of the image
  int64_t pixel_step = 1;    // stride between pixels of a row

  int64_t rows() const { return channels * taps(); }
  int64_t outputs() const { return axes[0].out * axes[1].out * axes[2].out; }
  int64_t elements() const { return Shape{rows(), outputs()}.numel(); }

  // Between `images` images, image_size elements apart, and their matrices, one after the other.
  template <class T>
  void gather(KernelContext& context, int64_t images, const T* image, int64_t image_size, T* columns) const;
  // col2im: adds to each image element the sum of its copies in the matrix.
  template <class T>
  void add_back(KernelContext& context, int64_t images, const T* columns, T* image, int64_t image_size) const;

 private:
  int64_t taps() const { return axes[0].window * axes[1].window * axes[2].window; }
  template <class F>
  void each_line(int64_t row, F f) const;
};

}  // namespace paddle_mini

// DirectProduct: which patches and filters a convolution multiplies, and where their products belong.
#pragma once

#include "math/convolution_sizes.h"
#include "math/cpu/patches.h"

namespace paddle_mini {

// results [images, rows, pixels of the grid] = factors [rows, channels, taps] patches
template <class T>
struct DirectProduct {
  PatchGrid<T> grid;
  int64_t images, pixels;  // pixels in one image
  int64_t channels, rows, in_plane, out_plane;
  std::vector<int64_t> taps;  // indices in one channel's filter
  int64_t row_step, channel_step;  // filter strides
  int64_t pixel_step, first;       // result stride and offset

  int64_t taps_of_row() const { return channels * static_cast<int64_t>(taps.size()); }
  int64_t in_block(int64_t groups) const { return images * groups * channels * in_plane; }  // elements of all images
  int64_t out_block(int64_t groups) const { return images * groups * rows * out_plane; }

  static DirectProduct forward(const ConvolutionSizes& sizes);
  // The gradient of the image has the same form: pixels with the same offset modulo the stride use the same subset of the
  // taps, in reversed order.
  static std::vector<DirectProduct> by_input(const ConvolutionSizes& sizes);
};

extern template struct DirectProduct<float>;
extern template struct DirectProduct<double>;

}  // namespace paddle_mini

// ImageLanes: a convolution whose registers hold the same element of neighbouring images.
#pragma once

#include <utility>
#include <vector>

#include "core/parallel.h"
#include "core/stored_parts.h"
#include "math/convolution_sizes.h"
#include "math/vec.h"

namespace paddle_mini {

// With as many images as a register has lanes, no lane is idle, whatever the sizes of images, windows and filters. Images are
// copied to rows [channels, rows, columns, lanes], a band of rows at a time, which stays in the L2 cache; results are copied
// back. Sums run over channels and taps in the order of DirectConvolution.
template <class T>
class ImageLanes {
 public:
  // gradient: of the images, from that of the outputs.
  // in_lanes: images and outputs are in memory as rows are here, [images / lanes, channels, rows, columns, lanes].
  ImageLanes(KernelInit& init, const ConvolutionSizes& sizes, bool gradient, bool in_lanes = false);

  static bool fits(const ConvolutionSizes& sizes);  // whether images fill most lanes
  void run(KernelContext& context, const T* image, const T* filter, T* out);

 private:
  static constexpr int64_t kLanes = Vec<T>::size;

  // A tap of an axis: what it adds to the position of a block's first input, and to that of a factor.
  struct Tap {
    int64_t input, factor;
  };
  // Outputs `step` apart, the taps that read an element of the image for any of them, and those elements.
  struct Block {
    int64_t first = 0, step = 1;
    int count = 0;
    int64_t begin = INT64_MAX, end = 0;
    std::vector<Tap> taps = {};
    int order =
        0;  // 1 or -1: taps are neighbours, in the order of the pixels' inputs or the inverse one; 0: they are not
  };
  // The outputs of one axis. Those of a block read inputs in_step apart, up to `before` and `after` elements outside of the
  // image.
  struct Axis {
    int64_t size, in_step, outs;
    std::vector<Block> blocks;
    int64_t before = 0, after = 0;

    int64_t length() const { return before + size + after; }
  };
  // Images of one group of lanes, and rows of outputs: those of a band.
  struct Part {
    int64_t image, images, group, y, end_y;
  };

  static Block block_of(const WindowAxis& axis, bool gradient, int64_t first, int count);
  static Axis axis_of(const WindowAxis& axis, bool gradient, int most);
  std::pair<int64_t, int64_t> inputs_of(int64_t y, int64_t end_y) const;
  int64_t packed_size() const;  // for the inputs of a band
  int64_t results_size() const;
  void choose_band();
  static int order_of(const std::vector<Tap>& taps, int64_t step);
  void place_taps();
  void pack_factors(KernelContext& context, const T* filter, T* to) const;
  const T* rows_of_band(const Part& part, const T* image, T* to) const;
  void multiply_band(StoredParts<T>& stored, const Part& part, const T* rows, const T* factors, T* results,
                     T* out) const;

  int64_t images_, groups_;
  bool in_lanes_;
  bool copies_ = true;  // rows that a band reads: none are if they have their lanes, and taps lie within them
  Axis height_, width_;
  int64_t channels_, outs_;  // in a group: inputs, and results
  int64_t out_step_, channel_step_;  // filter strides between them
  int64_t window_, window_width_;
  int64_t band_ = 1, strip_ = 1;  // rows of results whose inputs are packed together, and that are stored together
  Scratch<T> factors_;
  LaneScratch<T> rows_, results_;  // for a band
};

extern template class ImageLanes<float>;
extern template class ImageLanes<double>;

}  // namespace paddle_mini

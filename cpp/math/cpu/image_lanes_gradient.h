// ImageLanesGradient: the gradient of a convolution by its filters, whose registers hold the same element of neighbouring
// images.
#pragma once

#include <vector>

#include "core/parallel.h"
#include "math/convolution_sizes.h"
#include "math/vec.h"

namespace paddle_mini {

// An element of the gradient is a sum over the pixels of all images. Images and the gradients of outputs are copied to lanes, a
// chunk at a time that stays in the L2 cache; sums of a few filters times a few taps stay in registers, and between chunks are
// kept with all their lanes. The order of the sums depends on the sizes alone.
template <class T>
class ImageLanesGradient {
 public:
  ImageLanesGradient(KernelInit& init, const ConvolutionSizes& sizes, bool in_lanes = false);

  // Whether images fill most lanes, and the sums that are kept between chunks are not too many.
  static bool fits(const ConvolutionSizes& sizes);
  void run(KernelContext& context, const T* image, const T* out_gradient, T* filter_gradient);

 private:
  static constexpr int64_t kLanes = Vec<T>::size;

  struct Chunk {
    int64_t group, groups, y, end_y;  // groups of lanes, and rows of outputs
  };
  int64_t lane_groups() const { return (s_.images + kLanes - 1) / kLanes; }
  void pack_chunk(KernelContext& context, const Chunk& chunk, const T* image, const T* out_gradient);
  // A block of sums: the first filter, and the first row of taps.
  struct Block {
    int64_t group, out, row;
  };
  template <int width>
  void add_chunk(KernelContext& context, const Chunk& chunk, bool is_first, bool is_last, const T* image,
                 const T* out_gradient, T* filter_gradient);
  template <int filters, int rows, int width>
  void add_block(const Chunk& chunk, const Block& block, bool is_first, bool is_last, const T* image,
                 const T* out_gradient, T* filter_gradient);

  ConvolutionSizes s_;
  bool in_lanes_;
  bool copies_ = true;  // images, to a chunk: none are if they have their lanes, and taps lie within them
  Chunk first_chunk_{};  // no other one is larger
  int64_t width_ = 1;  // neighbouring taps whose sums are computed together
  std::vector<int64_t> offsets_;  // for the rows of so many taps of all channels
  int64_t row_length_ = 0, rows_ = 0;  // elements in a row, and rows of a channel, in a chunk
  Scratch<T> images_, gradients_, sums_;
};

extern template class ImageLanesGradient<float>;
extern template class ImageLanesGradient<double>;

}  // namespace paddle_mini

// FilterGradient: the gradient of a convolution by its filters, as a product of matrices.
#pragma once

#include <vector>

#include "core/parallel.h"
#include "math/convolution_sizes.h"
#include "math/vec.h"

namespace paddle_mini {

// gradient' [taps, outs] = columns [taps, pixels] outs [pixels, outs], where the pixels are those of all images, columns are
// the inputs of the taps (as of im2col), and outs the gradients of outputs. Sums stay in registers: a few taps times two
// registers of neighbouring output channels, so that no lane is idle on small images. Both operands are packed for a segment
// of pixels, which stays in the cache. Sums of segments are added in order.
template <class T>
class FilterGradient {
 public:
  FilterGradient(KernelInit& init, const ConvolutionSizes& sizes);

  static bool fits(const ConvolutionSizes& sizes);
  void run(KernelContext& context, const T* image, const T* out_gradient, T* filter_gradient);

 private:
  static constexpr int64_t kLanes = Vec<T>::size, kWidth = 2 * kLanes;

  // Results that are computed together: the taps of some channels, for some output channels of a group.
  struct Part {
    int64_t group, channel, channels, out, outs;
  };
  // Pixels of one image, which lie at `at` in their segment.
  struct Piece {
    int64_t image, pixel, at, count;
  };
  // For one tap and outputs of a row, a register of them if the stride is 1: so many elements of a channel from an offset
  // on, after some zeros, and before others.
  struct Copy {
    int64_t from, at, zeros, count, zeros_after;
  };
  struct Segment {
    std::vector<Piece> pieces;
    std::vector<Copy> copies;  // [taps of a channel, rows]
    size_t rows = 0;
  };
  struct Memory {
    T *columns, *panel, *sums;
  };
  int64_t window() const { return s_.height.window * s_.width.window; }
  Copy copy_of(int64_t image, int64_t y, int64_t x, int64_t tap) const;
  void describe(int64_t pixel, int64_t count, Segment& segment) const;
  void pack_columns(const Segment& segment, const Part& part, const T* image, T* to) const;
  void pack_outs(const Segment& segment, int64_t channels, const T* out_gradient, T* panel) const;
  void add_segment(const Segment& segment, int64_t count, bool add, const Part& part, const T* out_gradient,
                   const Memory& memory) const;
  void store_part(const Part& part, const T* sums, T* filter_gradient) const;

  ConvolutionSizes s_;
  int64_t channels_, outs_;  // a part has no more
  LaneScratch<T> columns_, panel_, sums_;
};

extern template class FilterGradient<float>;
extern template class FilterGradient<double>;

}  // namespace paddle_mini

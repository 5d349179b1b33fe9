// PointwiseConvolution: convolution with filters of one pixel, which is a product of matrices.
#pragma once

#include "core/parallel.h"
#include "core/stored_parts.h"
#include "math/cpu/filter_order.h"
#include "math/cpu/last_steps.h"
#include "math/cpu/packed_input.h"

namespace paddle_mini {

// out [out_channels, pixels] = filters [out_channels, in_channels] image [in_channels, pixels]. A few filters times two
// registers of neighbouring pixels stay in registers. A large image is read where it lies. A small one, or one of a batch,
// which comes from memory, is copied first if there are many filters, so that neighbouring channels are adjacent. Sums run
// over the channels in the order of DirectConvolution.
template <class T>
class PointwiseConvolution {
 public:
  PointwiseConvolution(KernelInit& init, const ConvolutionSizes& sizes, const FilterOrder& order);

  static bool fits(const ConvolutionSizes& sizes);
  void run(KernelContext& context, const T* image, const T* filter, T* out);

 private:
  // Blocks of filters, and pixels [first, end) of a plane, which has the channels of one group of one image.
  struct Part {
    int64_t first_block, end_block, first, end;
  };
  int64_t slices(int threads) const;
  Part part(int64_t slice, int64_t slices, int64_t i) const;
  void pack(KernelContext& context, const T* filter, T* to) const;
  // The outputs of a group of an image, whose first channel has that number in the image.
  struct Plane {
    T* out;
    int64_t channel;
  };
  void multiply(StoredParts<T>& stored, const LastSteps<T>& steps, const Part& part, const T* image, const T* filter,
                const Plane& plane, T* copy) const;

  ConvolutionSizes s_;
  FilterOrder order_;
  int64_t blocks_, parts_;  // blocks of filters; parts of a plane's pixels
  PackedInput<T> filter_;
  bool copies_ = false;  // whether the pixels of a part are copied before they are multiplied
  LaneScratch<T> copy_;
};

extern template class PointwiseConvolution<float>;
extern template class PointwiseConvolution<double>;

}  // namespace paddle_mini

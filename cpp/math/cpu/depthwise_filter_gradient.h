// DepthwiseFilterGradient: the gradient of a convolution of each channel by its filters.
#pragma once

#include "core/parallel.h"
#include "math/cpu/padded_rows.h"

namespace paddle_mini {

// Sums of all taps stay in registers, with neighbouring pixels in the lanes; those of parts of images are added in order.
template <class T>
class DepthwiseFilterGradient {
 public:
  DepthwiseFilterGradient(KernelInit& init, const ConvolutionSizes& sizes);

  void run(KernelContext& context, const T* image, const T* out_gradient, T* filter_gradient);

 private:
  template <int window, int stride>
  void add_rows(const T* padded, int64_t rows, const T* out_gradient, Vec<T>* sums) const;

  ConvolutionSizes s_;
  PaddedRows<T> rows_;
  LaneScratch<T> padded_;
};

extern template class DepthwiseFilterGradient<float>;
extern template class DepthwiseFilterGradient<double>;

}  // namespace paddle_mini

// DepthwiseConvolution: convolution of each channel with filters of its own.
#pragma once

#include "core/parallel.h"
#include "math/convolution_sizes.h"
#include "math/cpu/last_steps.h"

namespace paddle_mini {

// Sums of a few rows of one register of neighbouring outputs: each input is loaded once for all rows that read it, and the
// taps stay in registers. A few rows of one channel are copied with their padding, so that loads need no bounds.
// The sums run over the taps in the order in which filters are stored, as those of Convolution do.
template <class T>
class DepthwiseConvolution {
 public:
  DepthwiseConvolution(KernelInit& init, const ConvolutionSizes& sizes);

  static bool fits(const ConvolutionSizes& sizes);
  void run(KernelContext& context, const T* image, const T* filter, T* out);

 private:
  void copy_padded(const T* plane, int64_t y, int64_t rows, T* to) const;
  // The outputs of a channel of that number, from a row on.
  struct Outputs {
    T* first;
    int64_t channel;
    const LastSteps<T>& steps;
  };
  template <int window, int stride>
  void filter_rows(const T* padded, int64_t rows, const T* filter, const Outputs& outputs) const;
  void filter_part(const T* padded, int64_t rows, const T* filter, const Outputs& outputs) const;

  ConvolutionSizes s_;
  int64_t pitch_, rows_at_once_;
  LaneScratch<T> padded_;
};

extern template class DepthwiseConvolution<float>;
extern template class DepthwiseConvolution<double>;

}  // namespace paddle_mini

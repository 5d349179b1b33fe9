// DepthwiseConvolution: convolution of each channel with filters of its own.
#pragma once

#include "core/parallel.h"
#include "math/cpu/filter_order.h"
#include "math/cpu/last_steps.h"
#include "math/cpu/padded_rows.h"

namespace paddle_mini {

// Sums of a few rows of one register of neighbouring outputs: each input is loaded once for all rows that read it, and the
// taps stay in registers. The sums run over the taps in the order in which filters are stored, as those of Convolution do.
template <class T>
class DepthwiseConvolution {
 public:
  // spread: 1, or the 2 of PaddedRows. Filters of a channel are adjacent, whatever the order.
  DepthwiseConvolution(KernelInit& init, const ConvolutionSizes& sizes, const FilterOrder& order, int64_t spread = 1);

  void run(KernelContext& context, const T* image, const T* filter, T* out);

 private:
  // The outputs of a channel of that number, from a row on.
  struct Outputs {
    T* first;
    int64_t channel;
    const LastSteps<T>& steps;
  };
  template <int window, int stride>
  void filter_rows(const T* padded, int64_t rows, const T* filter, const Outputs& outputs) const;

  ConvolutionSizes s_;
  FilterOrder order_;
  PaddedRows<T> rows_;
  int64_t plane_;  // pixels of a channel of the image
  LaneScratch<T> padded_;
};

extern template class DepthwiseConvolution<float>;
extern template class DepthwiseConvolution<double>;

}  // namespace paddle_mini

// TapProducts: products of a filter with the image elements at its taps, on a GPU, for convolutions and their
// gradients.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

// One axis: window o and tap t read the image at first + o * stride + t * tap_step. Tap t is the filter's element
// filter_first + t * filter_step, window o the result's element out_first + o * out_step.
struct TapAxis {
  int64_t in = 1, windows = 1, taps = 1;
  int64_t first = 0, stride = 1, tap_step = 1;
  int64_t filter = 1, filter_first = 0, filter_step = 1;
  int64_t out = 1, out_first = 0, out_step = 1;
};

// Strides.
struct TapSteps {
  int64_t image, group, channel, pixel;
};

// out[n, g, r, window] = sum over c, tap of filter[g, r, c, tap] in[n, g, c, element of window and tap]
template <class T>
struct TapProducts {
  TapAxis axes[3];
  int64_t images, groups, rows, channels;
  TapSteps in, out;                       // a channel of `out` is a row
  int64_t filter_group = 0, filter_row = 0, filter_channel = 0;

  int64_t windows() const { return axes[0].windows * axes[1].windows * axes[2].windows; }
  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }

  void run(KernelContext& context, const T* image, const T* filter, T* result) const;
  // The gradient of the whole filter from that of the result.
  void filter_gradient(KernelContext& context, const T* image, const T* result_gradient, T* gradient) const;
};

extern template struct TapProducts<float>;
extern template struct TapProducts<double>;

}  // namespace paddle_mini

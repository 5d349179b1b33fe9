// FilterOrder: how a convolution reads its filters.
#pragma once

#include "math/convolution_sizes.h"

namespace paddle_mini {

// Steps between the elements of one group's filters, which begin at `first`.
struct FilterOrder {
  const char* port;  // the input that is packed once if the program never writes it; nullptr: it is packed in each run
  int64_t out, channel, tap, first;

  static FilterOrder forward(const ConvolutionSizes& s, const char* port) {
    return {port, s.taps(), s.height.window * s.width.window, 1, 0};
  }
  // For s.by_input().
  static FilterOrder by_input(const ConvolutionSizes& s, const char* port) {
    const int64_t window = s.height.window * s.width.window;
    return {port, window, s.taps(), -1, window - 1};
  }
};

}  // namespace paddle_mini

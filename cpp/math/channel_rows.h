// Images as rows of elements next to each other, for operators that treat each channel in its own way.
#pragma once

#include "core/shape.h"

namespace paddle_mini {

// Channels first: a row is one channel of one image. Channels last: a row is one pixel, or those channels of it
// that a group has.
struct ChannelRows {
  bool last;
  int64_t images, channels, pixels;

  // x has at least 2 dimensions.
  ChannelRows(const Shape& x, bool channels_last)
      : last(channels_last && x.rank() > 2), images(x[0]), channels(x[last ? x.rank() - 1 : 1]),
        pixels(last ? x.numel(1, x.rank() - 1) : x.numel(2, x.rank())) {}

  // f(offset, size, first channel) for each row of the channels [begin, end) of an image. With channels last
  // element i of a row is of channel first + i, else all are of the first.
  template <class F>
  void each(int64_t image, int64_t begin, int64_t end, F f) const {
    if (last) {
      for (int64_t p = 0; p < pixels; ++p) f((image * pixels + p) * channels + begin, end - begin, begin);
    } else {
      for (int64_t c = begin; c < end; ++c) f((image * channels + c) * pixels, pixels, c);
    }
  }
};

}  // namespace paddle_mini

// ChannelRows: images as contiguous rows of elements, for operators that treat each channel separately.
#pragma once

#include "core/shape.h"

namespace paddle_mini {

// Channels first: a row is one channel of one image. Channels last: a row is one pixel, or one group's channels of it.
struct ChannelRows {
  bool last;
  int64_t images, channels, pixels;

  // x must have rank 2 or more.
  ChannelRows(const Shape& x, bool channels_last)
      : last(channels_last && x.rank() > 2), images(x[0]), channels(x[last ? x.rank() - 1 : 1]),
        pixels(last ? x.numel(1, x.rank() - 1) : x.numel(2, x.rank())) {}

  // Calls f(offset, size, first channel) for each row of the channels [begin, end) of an image. With channels last,
  // element i of a row belongs to channel first + i; otherwise the whole row belongs to channel `first`.
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

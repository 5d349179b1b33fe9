// Batches of images as [outer, channels, inner], for what treats each channel by itself.
#pragma once

#include <string>

#include "core/shape.h"
#include "math/map.h"

namespace paddle_mini {

inline int batch_channel_axis(const Shape& x, const std::string& layout) { return layout == "NCHW" ? 1 : x.rank() - 1; }

// X as [outer, channels, inner]: inner is 1 where channels come last.
struct BatchChannels {
  int64_t outer, channels, inner;

  BatchChannels(const Shape& x, const std::string& layout) {
    int at = batch_channel_axis(x, layout);
    outer = x.numel(0, at), channels = x[at], inner = x.numel(at + 1, x.rank());
  }
  int64_t each() const { return outer * inner; }  // elements of one channel

#ifndef PM_GPU
  // totals[c] = sum of f(a, b, shift[c]) over the elements of channel c.
  template <class T, class F>
  void sums(Device& device, F f, const T* a, const T* b, const T* shift, double* totals) const {
    std::fill_n(totals, channels, 0.0);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t c = 0; c < channels; ++c, a += inner, b += inner) {
        T s = shift[c];
        if (inner == 1) totals[c] += static_cast<double>(f(*a, *b, s));
        else totals[c] += map_sum(device, inner, [f, s](auto x, auto y) { return f(x, y, decltype(x)(s)); }, a, b);
      }
    }
  }

  // to = f(a, b, p[c]...)
  template <class T, class F, class... PerChannel>
  void each_element(Device& device, F f, T* to, const T* a, const T* b, const PerChannel*... p) const {
    for (int64_t o = 0; o < outer; ++o) {
      if (inner == 1) {
        map(device, channels, f, to, a, b, p...);
        a += channels, b += channels, to += channels;
        continue;
      }
      for (int64_t c = 0; c < channels; ++c, a += inner, b += inner, to += inner) {
        auto row = [f](auto... constants) {
          return [f, constants...](auto x, auto y) { return f(x, y, decltype(x)(constants)...); };
        };
        map(device, inner, row(p[c]...), to, a, b);
      }
    }
  }
#endif
};

}  // namespace paddle_mini

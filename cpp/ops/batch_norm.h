// BatchChannels: batches of images as [outer, channels, inner], for operators that process each channel separately.
#pragma once

#include <string>

#include "core/shape.h"
#include "math/map.h"

namespace paddle_mini {

inline int batch_channel_axis(const Shape& x, const std::string& layout) { return layout == "NCHW" ? 1 : x.rank() - 1; }

// Views X as [outer, channels, inner]; inner is 1 if channels come last.
struct BatchChannels {
  int64_t outer, channels, inner;

  BatchChannels(const Shape& x, const std::string& layout) {
    int at = batch_channel_axis(x, layout);
    outer = x.numel(0, at), channels = x[at], inner = x.numel(at + 1, x.rank());
  }
  int64_t each() const { return outer * inner; }  // elements of one channel

  // Defined only by the CPU kernels:
  struct Range {
    int64_t begin, end;
  };
  template <class T, class F>
  void each_range(KernelContext& context, F f) const;
  template <class T, class F>
  void sums(KernelContext& context, Range range, F f, const T* a, const T* b, const T* shift, double* totals) const;
  template <class T, class F, class... PerChannel>
  void each_element(KernelContext& context, Range range, F f, T* to, const T* a, const T* b,
                    const PerChannel*... p) const;
};

}  // namespace paddle_mini

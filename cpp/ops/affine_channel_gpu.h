// GPU kernels of affine_channel.
#pragma once

#include "math/channel_rows.h"
#include "math/for_each_index.h"
#include "math/gpu/lines.h"

namespace paddle_mini {

namespace affine_channel_gpu {

template <class T>
struct Forward {
  int64_t channels, inner;
  const T *x, *scale, *bias;
  T* out;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t c = line_place(i, channels, inner).at;
    out[i] = x[i] * scale[c] + bias[c];
  }
};

template <class T>
struct ToX {
  int64_t channels, inner;
  const T *gradient, *scale;
  T* to;
  PM_DEVICE void operator()(int64_t i) const { to[i] = gradient[i] * scale[line_place(i, channels, inner).at]; }
};

template <class T>
struct Terms {
  const T *x, *gradient;
  PM_DEVICE TwoSums operator()(const int64_t (&at)[1]) const {
    T g = gradient[at[0]];
    return {static_cast<double>(g * x[at[0]]), static_cast<double>(g)};
  }
};
template <class T>
struct PutParameters {
  T *scale_gradient, *bias_gradient;  // may be nullptr
  PM_DEVICE void operator()(int64_t c, const TwoSums& sums) const {
    if (scale_gradient) scale_gradient[c] = static_cast<T>(sums.first);
    if (bias_gradient) bias_gradient[c] = static_cast<T>(sums.second);
  }
};

// Views X as [outer, channels, inner].
inline int64_t inner_of(const ChannelRows& rows) { return rows.last ? 1 : rows.pixels; }

template <class T>
void to_parameters(KernelContext& context, const ChannelRows& rows, const T* x, const T* gradient, T* scale_gradient,
                   T* bias_gradient) {
  if (!scale_gradient && !bias_gradient) return;
  StridedIndex<1> kept, folded;
  kept.add(rows.channels, {inner_of(rows)});
  folded.add(rows.pixels, {rows.last ? rows.channels : 1});
  folded.add(rows.images, {rows.channels * rows.pixels});
  fold(context, kept, folded, TwoSums{0, 0}, Terms<T>{x, gradient}, PlusBoth{},
       PutParameters<T>{scale_gradient, bias_gradient});
}

}  // namespace affine_channel_gpu

namespace {

template <class T>
void AffineChannelKernel<T>::run(KernelContext& context) {
  affine_channel_gpu::Forward<T> body{
      rows.channels, affine_channel_gpu::inner_of(rows), x.data(), scale.data(), bias.data(), out.data()};
  for_each_index(context, x.numel(), body);
}

// Writes X@GRAD last, because it may share the memory of Out@GRAD.
template <class T>
void AffineChannelGradKernel<T>::run(KernelContext& context) {
  const T* g = out_gradient.data();
  affine_channel_gpu::to_parameters(context, rows, x.data(), g, scale_gradient ? scale_gradient.data() : nullptr,
                                    bias_gradient ? bias_gradient.data() : nullptr);
  if (!x_gradient) return;
  affine_channel_gpu::ToX<T> body{rows.channels, affine_channel_gpu::inner_of(rows), g, scale.data(),
                                  x_gradient.data()};
  for_each_index(context, x.numel(), body);
}

}  // namespace

}  // namespace paddle_mini

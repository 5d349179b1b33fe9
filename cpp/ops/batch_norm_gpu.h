// GPU kernels of batch_norm.
#pragma once

#include "ops/batch_norm.h"
#include "math/for_each_index.h"
#include "math/gpu/lines.h"

namespace paddle_mini {

namespace batch_norm_gpu {

// Per-channel statistics: the running ones, those that this run uses, and the updated running ones.
template <class T>
struct Statistics {
  const T *mean, *variance;
  T *saved_mean, *saved_variance, *mean_out, *variance_out;
  T momentum, epsilon;
  bool passes;   // channels of one element pass through
  double count;  // elements of one channel
};

// Leaves the running statistics unchanged.
template <class T>
struct Keep {
  Statistics<T> s;

  PM_DEVICE void operator()(int64_t c) const {
    T mean = s.mean[c], variance = s.variance[c];
    s.saved_mean[c] = s.passes ? T(0) : mean;
    s.saved_variance[c] = s.passes ? T(0) : T(1) / sqrt(variance + s.epsilon);
    s.mean_out[c] = mean;
    s.variance_out[c] = variance;
  }
};

template <class T>
struct Value {
  const T* x;
  PM_DEVICE T operator()(const int64_t (&at)[2]) const { return x[at[1]]; }
};
template <class T>
struct Square {
  const T *x, *mean;
  PM_DEVICE T operator()(const int64_t (&at)[2]) const {
    T v = x[at[1]] - mean[at[0]];
    return v * v;
  }
};

template <class T>
struct PutMean {
  Statistics<T> s;
  PM_DEVICE void operator()(int64_t c, double sum) const { s.saved_mean[c] = static_cast<T>(sum / s.count); }
};
template <class T>
struct PutVariance {
  Statistics<T> s;
  PM_DEVICE void operator()(int64_t c, double sum) const {
    T variance = static_cast<T>(sum / s.count), rest = T(1) - s.momentum;
    s.mean_out[c] = s.mean[c] * s.momentum + s.saved_mean[c] * rest;
    s.variance_out[c] = s.variance[c] * s.momentum + variance * rest;
    s.saved_variance[c] = T(1) / sqrt(variance + s.epsilon);
  }
};

// Index maps of the channels and of the elements of a channel.
struct IndexMaps {
  StridedIndex<2> channels, each;

  explicit IndexMaps(const BatchChannels& layout) {
    channels.add(layout.channels, {1, layout.inner});
    if (layout.inner != 1) each.add(layout.inner, {0, 1});
    each.add(layout.outer, {0, layout.channels * layout.inner});
  }
};

// Two passes: a single pass would lose the variance to rounding if the mean is large.
template <class T>
void of_batch(KernelContext& context, const BatchChannels& layout, const T* x, const Statistics<T>& s) {
  IndexMaps index_maps(layout);
  fold(context, index_maps.channels, index_maps.each, 0.0, Value<T>{x}, Plus{}, PutMean<T>{s});
  fold(context, index_maps.channels, index_maps.each, 0.0, Square<T>{x, s.saved_mean}, Plus{}, PutVariance<T>{s});
}

template <class T>
struct Normalize {
  int64_t channels, inner;
  bool passes;
  const T *x, *mean, *deviation, *scale, *bias;  // scale, bias: may be nullptr
  T* y;

  PM_DEVICE void operator()(int64_t i) const {
    if (passes) {
      y[i] = x[i];
      return;
    }
    int64_t c = line_place(i, channels, inner).at;
    T factor = scale ? deviation[c] * scale[c] : deviation[c];
    y[i] = (x[i] - mean[c]) * factor + (bias ? bias[c] : T(0));
  }
};

template <class T>
struct Gradient {
  int64_t channels, inner;
  bool passes, use_running;
  const T *x, *gradient, *mean, *spread;  // spread: one over the deviation, or the running variance
  const T* scale;
  T epsilon;
  double *to_bias, *to_scale;  // sums of Y@GRAD and Y@GRAD xhat
  double count;

  PM_DEVICE T one_by_deviation(int64_t c) const { return use_running ? T(1) / sqrt(spread[c] + epsilon) : spread[c]; }
  PM_DEVICE TwoSums operator()(const int64_t (&at)[2]) const {
    T g = gradient[at[1]];
    return {static_cast<double>(g), static_cast<double>(g * (x[at[1]] - mean[at[0]]))};
  }
};

template <class T>
struct PutSums {
  Gradient<T> g;
  T *scale_gradient, *bias_gradient;  // may be nullptr

  PM_DEVICE void operator()(int64_t c, const TwoSums& sums) const {
    double along = sums.second * static_cast<double>(g.one_by_deviation(c));
    g.to_bias[c] = sums.first;
    g.to_scale[c] = along;
    if (bias_gradient) bias_gradient[c] = g.passes ? T(0) : static_cast<T>(sums.first);
    if (scale_gradient) scale_gradient[c] = g.passes ? T(0) : static_cast<T>(along);
  }
};

template <class T>
void to_parameters(KernelContext& context, const BatchChannels& layout, const Gradient<T>& gradient, T* scale_gradient,
                   T* bias_gradient) {
  IndexMaps index_maps(layout);
  fold(context, index_maps.channels, index_maps.each, TwoSums{0, 0}, gradient, PlusBoth{},
       PutSums<T>{gradient, scale_gradient, bias_gradient});
}

// X@GRAD = Y@GRAD p - (X - mean) q - r
template <class T>
struct ToX {
  Gradient<T> g;
  T* to;

  PM_DEVICE void operator()(int64_t i) const {
    if (g.passes) {
      to[i] = g.gradient[i];
      return;
    }
    int64_t c = line_place(i, g.channels, g.inner).at;
    T s = g.one_by_deviation(c), p = g.scale ? g.scale[c] * s : s;
    T q = static_cast<T>(static_cast<double>(p) * static_cast<double>(s) * g.to_scale[c] / g.count);
    T r = static_cast<T>(static_cast<double>(p) * g.to_bias[c] / g.count);
    to[i] = g.gradient[i] * p - (g.x[i] - g.mean[c]) * q - r;
  }
};

}  // namespace batch_norm_gpu

namespace {

template <class T>
void BatchNormKernel<T>::run(KernelContext& context) {
  bool passes = !use_running && layout.each() == 1, keeps = passes || use_running || layout.each() == 0;
  batch_norm_gpu::Statistics<T> statistics{mean.data(),
                                           variance.data(),
                                           saved_mean.data(),
                                           saved_variance.data(),
                                           mean_out.data(),
                                           variance_out.data(),
                                           static_cast<T>(momentum),
                                           static_cast<T>(epsilon),
                                           passes,
                                           static_cast<double>(layout.each())};
  if (keeps) for_each_index(context, layout.channels, batch_norm_gpu::Keep<T>{statistics});
  else batch_norm_gpu::of_batch(context, layout, x.data(), statistics);
  batch_norm_gpu::Normalize<T> normalize{layout.channels,
                                         layout.inner,
                                         passes,
                                         x.data(),
                                         saved_mean.data(),
                                         saved_variance.data(),
                                         scale ? scale.data() : nullptr,
                                         bias ? bias.data() : nullptr,
                                         y.data()};
  for_each_index(context, x.numel(), normalize);
}

// Writes X@GRAD last, because it may share the memory of Y@GRAD.
template <class T>
void BatchNormGradKernel<T>::run(KernelContext& context) {
  bool passes = !use_running && layout.each() == 1;  // as in the forward kernel
  batch_norm_gpu::Gradient<T> gradient{layout.channels,
                                       layout.inner,
                                       passes,
                                       use_running,
                                       x.data(),
                                       y_gradient.data(),
                                       use_running ? running_mean.data() : mean.data(),
                                       use_running ? running_variance.data() : deviation.data(),
                                       scale ? scale.data() : nullptr,
                                       static_cast<T>(epsilon),
                                       to_bias.data(),
                                       to_scale.data(),
                                       use_running || layout.each() == 0 ? HUGE_VAL
                                                                         : static_cast<double>(layout.each())};
  batch_norm_gpu::to_parameters(context, layout, gradient, scale_gradient ? scale_gradient.data() : nullptr,
                                bias_gradient ? bias_gradient.data() : nullptr);
  if (x_gradient) for_each_index(context, x.numel(), batch_norm_gpu::ToX<T>{gradient, x_gradient.data()});
}

}  // namespace

}  // namespace paddle_mini

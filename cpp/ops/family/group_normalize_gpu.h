// GroupNormalize on a GPU, for all groups at once.
#pragma once

#include "math/channel_rows.h"
#include "math/for_each_index.h"
#include "math/gpu/lines.h"

namespace paddle_mini {

namespace group_normalize_gpu {

// Memory layout of groups of channels.
struct Layout {
  bool last;
  int64_t images, channels, pixels, groups, width;

  Layout(const ChannelRows& rows, int64_t groups)
      : last(rows.last), images(rows.images), channels(rows.channels), pixels(rows.pixels), groups(groups),
        width(groups ? rows.channels / groups : 0) {}

  int64_t channel_step() const { return last ? 1 : pixels; }
  int64_t pixel_step() const { return last ? channels : 1; }
  double count() const { return static_cast<double>(std::max<int64_t>(width * pixels, 1)); }
  int64_t numel() const { return images * channels * pixels; }

  // The channel and the group of an element.
  struct Place {
    int64_t channel, group;
  };
  PM_DEVICE Place place(int64_t i) const {
    int64_t row = i / pixels, channel = last ? i % channels : row % channels;
    int64_t image = last ? i / channels / pixels : row / channels;
    return {channel, image * groups + channel / width};
  }
};

// Indices with three offsets: channel, group, element.
struct GroupIndexMaps {
  StridedIndex<3> remaining, folded;

  explicit GroupIndexMaps(const Layout& l) {
    remaining.add(l.groups, {l.width, 1, l.width * l.channel_step()});
    remaining.add(l.images, {0, l.groups, l.channels * l.pixels});
    if (l.last) folded.add(l.width, {1, 0, 1});
    folded.add(l.pixels, {0, 0, l.pixel_step()});
    if (!l.last) folded.add(l.width, {1, 0, l.pixels});
  }
};
struct ChannelIndexMaps {
  StridedIndex<3> remaining, folded;

  explicit ChannelIndexMaps(const Layout& l) {
    remaining.add(l.width, {1, 0, l.channel_step()});
    remaining.add(l.groups, {l.width, 1, l.width * l.channel_step()});
    folded.add(l.pixels, {0, 0, l.pixel_step()});
    folded.add(l.images, {0, l.groups, l.channels * l.pixels});
  }
};

// The inverse standard deviation of a group.
template <class T>
struct Deviation {
  const T* values;  // variances, or inverse standard deviations if `inverted`
  T epsilon;
  bool inverted;
  PM_DEVICE T operator()(int64_t group) const {
    return inverted ? values[group] : T(1) / sqrt(values[group] + epsilon);
  }
};

template <class T>
struct Value {
  const T* x;
  PM_DEVICE T operator()(const int64_t (&at)[3]) const { return x[at[2]]; }
};
template <class T>
struct Square {
  const T *x, *mean;
  PM_DEVICE T operator()(const int64_t (&at)[3]) const {
    T v = x[at[2]] - mean[at[1]];
    return v * v;
  }
};
template <class T>
struct PutMean {
  double count;
  T* to;
  PM_DEVICE void operator()(int64_t group, double sum) const { to[group] = static_cast<T>(sum / count); }
};
template <class T>
struct PutDeviation {
  double count;
  T epsilon;
  T* to;
  PM_DEVICE void operator()(int64_t group, double sum) const {
    to[group] = T(1) / sqrt(static_cast<T>(sum / count) + epsilon);
  }
};

template <class T>
struct Normalize {
  Layout layout;
  Deviation<T> deviation;
  const T *x, *mean, *scale, *bias;  // scale, bias: may be nullptr
  T* y;

  PM_DEVICE void operator()(int64_t i) const {
    Layout::Place at = layout.place(i);
    T unit = (x[i] - mean[at.group]) * deviation(at.group);
    if (scale) unit = unit * scale[at.channel];
    y[i] = bias ? unit + bias[at.channel] : unit;
  }
};

// Terms of the gradients: from Y@GRAD, times Scale for the sums over a group.
template <class T>
struct Terms {
  Deviation<T> deviation;
  const T *x, *gradient, *mean, *scale;

  PM_DEVICE TwoSums operator()(const int64_t (&at)[3]) const {
    double g = gradient[at[2]] * (scale ? scale[at[0]] : T(1));
    return {g, g * ((x[at[2]] - mean[at[1]]) * deviation(at[1]))};
  }
};
template <class T>
struct PutSums {
  double count;
  T *first, *second;  // may be nullptr
  PM_DEVICE void operator()(int64_t i, const TwoSums& sums) const {
    if (first) first[i] = static_cast<T>(sums.first / count);
    if (second) second[i] = static_cast<T>(sums.second / count);
  }
};

template <class T>
struct ToX {
  Layout layout;
  Terms<T> terms;
  const T *level, *slope;
  T* to;

  PM_DEVICE void operator()(int64_t i) const {
    Layout::Place at = layout.place(i);
    T s = terms.deviation(at.group), g = terms.gradient[i] * (terms.scale ? terms.scale[at.channel] : T(1));
    to[i] = s * (g - level[at.group] - (terms.x[i] - terms.mean[at.group]) * s * slope[at.group]);
  }
};

}  // namespace group_normalize_gpu

template <class T>
class GpuGroupNormalize {
 public:
  using Deviation = group_normalize_gpu::Deviation<T>;

  GpuGroupNormalize(const ChannelRows& rows, int64_t groups) : layout_(rows, groups) {}

  int64_t group_count() const { return layout_.images * layout_.groups; }

  // For all groups: the means, and the variances or the values that `put_spread` computes from the sum of squares. Two
  // passes, so that a large mean does not cancel the digits of the variance.
  template <class PutSpread>
  void statistics(KernelContext& context, const T* x, T* mean, const PutSpread& put_spread) const {
    group_normalize_gpu::GroupIndexMaps index_maps(layout_);
    fold(context, index_maps.remaining, index_maps.folded, 0.0, group_normalize_gpu::Value<T>{x}, Plus{},
         put_mean(mean));
    fold(context, index_maps.remaining, index_maps.folded, 0.0, group_normalize_gpu::Square<T>{x, mean}, Plus{},
         put_spread);
  }
  group_normalize_gpu::PutMean<T> put_mean(T* to) const { return {layout_.count(), to}; }
  group_normalize_gpu::PutDeviation<T> put_deviation(T epsilon, T* to) const { return {layout_.count(), epsilon, to}; }

  void normalize(KernelContext& context, const T* x, const T* mean, const Deviation& deviation, const T* scale,
                 const T* bias, T* y) const {
    group_normalize_gpu::Normalize<T> body{layout_, deviation, x, mean, scale, bias, y};
    for_each_index(context, layout_.numel(), body);
  }

  // scale, and any of the gradients, may be nullptr; x_gradient may be g. `sums` has space for two numbers per group.
  void gradients(KernelContext& context, const T* x, const T* g, const T* mean, const Deviation& deviation,
                 const T* scale, T* x_gradient, T* scale_gradient, T* bias_gradient, T* sums) const {
    using Terms = group_normalize_gpu::Terms<T>;
    using PutSums = group_normalize_gpu::PutSums<T>;
    if (scale_gradient || bias_gradient) {
      group_normalize_gpu::ChannelIndexMaps index_maps(layout_);
      fold(context, index_maps.remaining, index_maps.folded, TwoSums{0, 0}, Terms{deviation, x, g, mean, nullptr},
           PlusBoth{}, PutSums{1, bias_gradient, scale_gradient});
    }
    if (!x_gradient) return;
    group_normalize_gpu::GroupIndexMaps index_maps(layout_);
    Terms terms{deviation, x, g, mean, scale};
    T* slopes = sums + group_count();
    fold(context, index_maps.remaining, index_maps.folded, TwoSums{0, 0}, terms, PlusBoth{},
         PutSums{layout_.count(), sums, slopes});
    for_each_index(context, layout_.numel(), group_normalize_gpu::ToX<T>{layout_, terms, sums, slopes, x_gradient});
  }

 private:
  group_normalize_gpu::Layout layout_;
};

template <class T>
using GroupNormalize = GpuGroupNormalize<T>;

}  // namespace paddle_mini

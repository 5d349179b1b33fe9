// GroupNormalize on a CPU, one group after the other.
#pragma once

#include <cmath>

#include "math/channel_rows.h"
#include "math/cpu/each_item.h"
#include "math/map.h"

namespace paddle_mini {

// A per-channel parameter: one number for a row, or a row of numbers; `otherwise` if `values` is nullptr.
template <class T>
struct ChannelValue {
  const T* values;
  T otherwise;
  T one(int64_t channel) const { return values ? values[channel] : otherwise; }
};

template <class T>
class GroupNormalize {
 public:
  GroupNormalize(const ChannelRows& rows, int64_t groups)
      : rows_(rows), groups_(groups), width_(groups ? rows.channels / groups : 0),
        count_(static_cast<double>(std::max<int64_t>(width_ * rows.pixels, 1))) {}

  int64_t group_count() const { return rows_.images * groups_; }

  // Calls f(group) for each group of each image. cost: of one element.
  template <class F>
  void each_group(KernelContext& context, double cost, F f) const {
    each_long_item(context, {group_count(), cost * count_}, f);
  }
  // The same with the groups of one number in the order of the images, because they share their channels' parameters.
  template <class F>
  void each_group_apart(KernelContext& context, double cost, F f) const {
    each_long_item(context, {groups_, cost * count_ * static_cast<double>(rows_.images)}, [&](int64_t group) {
      for (int64_t image = 0; image < rows_.images; ++image) f(image * groups_ + group);
    });
  }

  // Two passes, so that a large mean does not cancel the digits of the variance.
  void statistics(KernelContext& context, int64_t group, const T* x, T* mean, T* variance) const {
    double sum = 0, squares = 0;
    auto self = [](auto v) { return v; };
    each_row(group, [&](int64_t at, int64_t n, int64_t) { sum += map_sum(context, n, self, x + at); });
    T m = static_cast<T>(sum / count_);
    auto square = [m](auto v) { return (v - decltype(v)(m)) * (v - decltype(v)(m)); };
    each_row(group, [&](int64_t at, int64_t n, int64_t) { squares += map_sum(context, n, square, x + at); });
    *mean = m;
    *variance = static_cast<T>(squares / count_);
  }

  // y = (x - m) s scale + bias
  void normalize(KernelContext& context, int64_t group, const T* x, T m, T s, const T* scale, const T* bias,
                 T* y) const {
    ChannelValue<T> scales{scale, T(1)}, biases{bias, T(0)};
    auto unit = [m, s](auto v) { return (v - decltype(v)(m)) * decltype(v)(s); };
    each_row(group, [&](int64_t at, int64_t n, int64_t c) {
      if (!rows_.last) {
        auto row = [unit, k = scales.one(c), b = biases.one(c)](auto v) {
          return unit(v) * decltype(v)(k) + decltype(v)(b);
        };
        map(context, n, row, y + at, x + at);
        return;
      }
      const T* from = x + at;
      auto both = [unit](auto v, auto k, auto b) { return unit(v) * k + b; };
      if (scale && bias) map(context, n, both, y + at, from, scale + c, bias + c);
      else if (scale) map(context, n, [unit](auto v, auto k) { return unit(v) * k; }, y + at, from, scale + c);
      else if (bias) map(context, n, [unit](auto v, auto b) { return unit(v) + b; }, y + at, from, bias + c);
      else map(context, n, unit, y + at, from);
    });
  }

  // With n elements per group, xhat = (x - m) s, G = g scale (Wu & He 2018):
  //   bias' += sum of g and scale' += sum of g xhat, per channel,
  //   x' = s (G - sum(G) / n - xhat sum(G xhat) / n)
  // scale, and any of the gradients, may be nullptr; x_gradient may be g.
  void gradients(KernelContext& context, int64_t group, const T* x, const T* g, T m, T s, const T* scale, T* x_gradient,
                 T* scale_gradient, T* bias_gradient) const {
    ChannelValue<T> scales{scale, T(1)};
    double level_sum = 0, slope_sum = 0;
    auto along = [m, s](auto w, auto v) { return w * ((v - decltype(v)(m)) * decltype(v)(s)); };
    each_row(group, [&](int64_t at, int64_t n, int64_t c) {
      if (rows_.last) {
        add_channels(context, n, along, g + at, x + at, scale_gradient ? scale_gradient + c : nullptr,
                     bias_gradient ? bias_gradient + c : nullptr);
        for (int64_t i = 0; i < n; ++i) {
          double w = g[at + i] * scales.one(c + i);
          level_sum += w, slope_sum += w * ((x[at + i] - m) * s);
        }
        return;
      }
      double sum = map_sum(context, n, [](auto w) { return w; }, g + at);
      double product = map_sum(context, n, along, g + at, x + at);
      if (bias_gradient) bias_gradient[c] += static_cast<T>(sum);
      if (scale_gradient) scale_gradient[c] += static_cast<T>(product);
      level_sum += sum * scales.one(c), slope_sum += product * scales.one(c);
    });
    if (!x_gradient) return;
    T level = static_cast<T>(level_sum / count_), slope = static_cast<T>(slope_sum / count_);
    auto combine = [m, s, level, slope](auto w, auto v) {
      using V = decltype(w);
      return V(s) * (w - V(level) - (v - V(m)) * V(s) * V(slope));
    };
    each_row(group, [&](int64_t at, int64_t n, int64_t c) {
      T* to = x_gradient + at;
      if (rows_.last && scale) {
        map(context, n, [combine](auto w, auto v, auto k) { return combine(w * k, v); }, to, g + at, x + at, scale + c);
      } else {
        T k = rows_.last ? T(1) : scales.one(c);
        map(context, n, [combine, k](auto w, auto v) { return combine(w * decltype(w)(k), v); }, to, g + at, x + at);
      }
    });
  }

 private:
  template <class F>
  void each_row(int64_t group, F f) const {
    int64_t first = group % groups_ * width_;
    rows_.each(group / groups_, first, first + width_, f);
  }

  template <class F>
  static void add_channels(KernelContext& context, int64_t n, F along, const T* g, const T* x, T* scale_gradient,
                           T* bias_gradient) {
    const T *scales = scale_gradient, *biases = bias_gradient;
    auto add = [along](auto sum, auto w, auto v) { return sum + along(w, v); };
    if (scale_gradient) map(context, n, add, scale_gradient, scales, g, x);
    if (bias_gradient) map(context, n, [](auto sum, auto w) { return sum + w; }, bias_gradient, biases, g);
  }

  ChannelRows rows_;
  int64_t groups_, width_;
  double count_;
};

}  // namespace paddle_mini

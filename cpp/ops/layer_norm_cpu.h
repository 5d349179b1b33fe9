// CPU kernels of layer_norm.
#pragma once

#include "math/map.h"

namespace paddle_mini {
namespace {

// Two passes: a single pass would lose the variance to rounding if the mean is large.
template <class T>
void LayerNormKernel<T>::run(KernelContext& context) {
  for (int64_t i = 0; i < r.rows; ++i) {
    const T* from = x.data() + i * r.size;
    T m = static_cast<T>(map_sum(context, r.size, [](auto v) { return v; }, from) / r.count());
    auto square = [m](auto v) { return (v - decltype(v)(m)) * (v - decltype(v)(m)); };
    mean[i] = m;
    variance[i] = static_cast<T>(map_sum(context, r.size, square, from) / r.count());
    normalize(context, from, m, one_by_row_deviation(variance[i], epsilon), y.data() + i * r.size);
  }
}

template <class T>
void LayerNormKernel<T>::normalize(KernelContext& context, const T* from, T m, T s, T* to) {
  auto unit = [m, s](auto v) { return (v - decltype(v)(m)) * decltype(v)(s); };
  const T *k = scale ? scale.data() : nullptr, *b = bias ? bias.data() : nullptr;
  if (k && b) map(context, r.size, [unit](auto v, auto p, auto q) { return unit(v) * p + q; }, to, from, k, b);
  else if (k) map(context, r.size, [unit](auto v, auto p) { return unit(v) * p; }, to, from, k);
  else if (b) map(context, r.size, [unit](auto v, auto q) { return unit(v) + q; }, to, from, b);
  else map(context, r.size, unit, to, from);
}

template <class T>
void LayerNormGradKernel<T>::run(KernelContext& context) {
  if (scale_gradient) std::fill_n(scale_gradient.data(), r.size, T(0));
  if (bias_gradient) std::fill_n(bias_gradient.data(), r.size, T(0));
  for (int64_t i = 0; i < r.rows; ++i) {
    const T *from = x.data() + i * r.size, *g = y_gradient.data() + i * r.size;
    T m = mean[i], s = one_by_row_deviation(variance[i], epsilon);
    to_parameters(context, from, g, m, s);
    if (x_gradient) to_x(context, from, g, m, s, x_gradient.data() + i * r.size);
  }
}

template <class T>
void LayerNormGradKernel<T>::to_parameters(KernelContext& context, const T* from, const T* g, T m, T s) {
  if (scale_gradient) {
    auto add = [m, s](auto sum, auto w, auto v) { return sum + w * ((v - decltype(v)(m)) * decltype(v)(s)); };
    const T* sums = scale_gradient.data();
    map(context, r.size, add, scale_gradient.data(), sums, g, from);
  }
  if (bias_gradient) {
    const T* sums = bias_gradient.data();
    map(context, r.size, [](auto sum, auto w) { return sum + w; }, bias_gradient.data(), sums, g);
  }
}

template <class T>
void LayerNormGradKernel<T>::to_x(KernelContext& context, const T* from, const T* g, T m, T s, T* to) {
  if (scale) {
    map(context, r.size, [](auto w, auto k) { return w * k; }, scaled.data(), g, scale.data());
    g = scaled.data();
  }
  auto along = [m, s](auto w, auto v) { return w * ((v - decltype(v)(m)) * decltype(v)(s)); };
  T level = static_cast<T>(map_sum(context, r.size, [](auto w) { return w; }, g) / r.count());
  T slope = static_cast<T>(map_sum(context, r.size, along, g, from) / r.count());
  auto combine = [m, s, level, slope](auto w, auto v) {
    using V = decltype(w);
    return V(s) * (w - V(level) - (v - V(m)) * V(s) * V(slope));
  };
  map(context, r.size, combine, to, g, from);
}

}  // namespace
}  // namespace paddle_mini

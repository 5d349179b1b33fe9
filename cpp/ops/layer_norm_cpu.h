// CPU kernels of layer_norm.
#pragma once

#include "math/map.h"

namespace paddle_mini {
namespace {

template <class Rows>
double layer_norm_cost(const Rows& r) {  // for one row of floats: about three passes
  return bytes_cost(24) * static_cast<double>(r.size);
}

// Two passes: a single pass would lose the variance to rounding if the mean is large.
template <class T>
void LayerNormKernel<T>::run(KernelContext& context) {
  parallel_rows(context, r.rows, layer_norm_cost(r), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) run_row(context, i);
  });
}

template <class T>
void LayerNormKernel<T>::run_row(KernelContext& context, int64_t i) {
  const T* from = x.data() + i * r.size;
  T m = static_cast<T>(map_sum(context, r.size, [](auto v) { return v; }, from) / r.count());
  auto square = [m](auto v) { return (v - decltype(v)(m)) * (v - decltype(v)(m)); };
  mean[i] = m;
  variance[i] = static_cast<T>(map_sum(context, r.size, square, from) / r.count());
  normalize(context, from, m, one_by_row_deviation(variance[i], epsilon), y.data() + i * r.size);
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
  if (scale_gradient || bias_gradient) to_parameters(context);
  if (!x_gradient) return;
  parallel_for(context, {r.rows, layer_norm_cost(r), 1, scaled.lanes()}, [&](int64_t begin, int64_t end, int lane) {
    for (int64_t i = begin; i < end; ++i) to_x(context, i, scaled.data(lane));
  });
}

// Split by columns: each sum has the order of the rows.
template <class T>
void LayerNormGradKernel<T>::to_parameters(KernelContext& context) {
  const double cost = bytes_cost(4.0 * sizeof(T)) * static_cast<double>(r.rows);
  parallel_for(context, {r.size, cost, 64}, [&](int64_t begin, int64_t end) {
    const int64_t n = end - begin;
    T* to_scale = scale_gradient ? scale_gradient.data() + begin : nullptr;
    T* to_bias = bias_gradient ? bias_gradient.data() + begin : nullptr;
    if (to_scale) std::fill_n(to_scale, n, T(0));
    if (to_bias) std::fill_n(to_bias, n, T(0));
    for (int64_t i = 0; i < r.rows; ++i) {
      const T *from = x.data() + i * r.size + begin, *g = y_gradient.data() + i * r.size + begin;
      T m = mean[i], s = one_by_row_deviation(variance[i], epsilon);
      auto add = [m, s](auto sum, auto w, auto v) { return sum + w * ((v - decltype(v)(m)) * decltype(v)(s)); };
      if (to_scale) map(context, n, add, to_scale, static_cast<const T*>(to_scale), g, from);
      if (to_bias)
        map(context, n, [](auto sum, auto w) { return sum + w; }, to_bias, static_cast<const T*>(to_bias), g);
    }
  });
}

template <class T>
void LayerNormGradKernel<T>::to_x(KernelContext& context, int64_t row, T* scaled_gradient) {
  const T *from = x.data() + row * r.size, *g = y_gradient.data() + row * r.size;
  T m = mean[row], s = one_by_row_deviation(variance[row], epsilon), *to = x_gradient.data() + row * r.size;
  if (scale) {
    map(context, r.size, [](auto w, auto k) { return w * k; }, scaled_gradient, g, scale.data());
    g = scaled_gradient;
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

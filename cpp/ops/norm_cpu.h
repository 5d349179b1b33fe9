// The kernels of norm on a CPU.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void NormKernel<T>::run(KernelContext& context) {
  const double cost = bytes_cost(4.0 * sizeof(T)) * static_cast<double>(a.size * a.inner);
  auto add = [](auto sum, auto v) { return sum + v * v; };
  each_long_item(context, {a.outer, cost}, [&](int64_t o, int lane) {
    T* const root = roots.data(lane);
    const T *r = root, *from = x.data() + o * a.size * a.inner;
    T* to = out.data() + o * a.size * a.inner;
    if (a.inner == 1) {
      root[0] = static_cast<T>(map_sum(context, a.size, [](auto v) { return v * v; }, from));
    } else {
      std::fill_n(root, a.inner, T(0));
      for (int64_t i = 0; i < a.size; ++i) map(context, a.inner, add, root, r, from + i * a.inner);
    }
    for (int64_t i = 0; i < a.inner; ++i) root[i] = std::sqrt(root[i] + epsilon);
    if (norm) std::copy_n(r, a.inner, norm.data() + o * a.inner);
    divide(context, from, r, to);
  });
}

template <class T>
void NormKernel<T>::divide(KernelContext& context, const T* from, const T* r, T* to) {
  if (a.inner == 1) {
    map(context, a.size, [n = r[0]](auto v) { return v / decltype(v)(n); }, to, from);
    return;
  }
  for (int64_t i = 0; i < a.size; ++i) {
    map(context, a.inner, [](auto v, auto n) { return v / n; }, to + i * a.inner, from + i * a.inner, r);
  }
}

template <class T>
void NormGradKernel<T>::run(KernelContext& context) {
  const double cost = bytes_cost(5.0 * sizeof(T)) * static_cast<double>(a.size * a.inner);
  auto pass = [](auto g, auto v, auto dot, auto n) { return (g - v * dot) / n; };
  each_long_item(context, {a.outer, cost}, [&](int64_t o, int lane) {
    int64_t at = o * a.size * a.inner;
    const T *from = x.data() + at, *g = out_gradient.data() + at, *n = norm.data() + o * a.inner;
    T* to = x_gradient.data() + at;
    if (a.inner == 1) {
      T dot = static_cast<T>(map_sum(context, a.size, [](auto v, auto w) { return v * w; }, from, g)) / (*n * *n);
      auto row = [pass, dot, root = *n](auto w, auto v) { return pass(w, v, decltype(w)(dot), decltype(w)(root)); };
      return map(context, a.size, row, to, g, from);
    }
    dot_columns(context, from, g, n, dots.data(lane));
    const T* d = dots.data(lane);
    for (int64_t i = 0; i < a.size; ++i) {
      map(context, a.inner, pass, to + i * a.inner, g + i * a.inner, from + i * a.inner, d, n);
    }
  });
}

template <class T>
void NormGradKernel<T>::dot_columns(KernelContext& context, const T* from, const T* g, const T* n, T* to) {
  const T* d = to;
  auto add = [](auto sum, auto v, auto w) { return sum + v * w; };
  std::fill_n(to, a.inner, T(0));
  for (int64_t i = 0; i < a.size; ++i) { map(context, a.inner, add, to, d, from + i * a.inner, g + i * a.inner); }
  map(context, a.inner, [](auto dot, auto root) { return dot / (root * root); }, to, d, n);
}

}  // namespace
}  // namespace paddle_mini

// CPU kernels of log_softmax.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

constexpr double kLogSoftmaxCost = 1;  // nanoseconds for one element: exp, vectorized

template <class T>
void LogSoftmaxKernel<T>::run(KernelContext& context) {
  int64_t block = a.size * a.inner;
  each_long_item(context, {a.outer, kLogSoftmaxCost * static_cast<double>(block)}, [&](int64_t o, int lane) {
    if (a.inner == 1) row(context, x.data() + o * block, out.data() + o * block);
    else columns(context, x.data() + o * block, out.data() + o * block, lane);
  });
}

template <class T>
void LogSoftmaxKernel<T>::row(KernelContext& context, const T* from, T* to) {
  T top = from[0];
  for (int64_t i = 1; i < a.size; ++i) top = maximum(top, from[i]);
  auto part = [top](auto v) { return exp(v - decltype(v)(top)); };
  T rest = std::log(static_cast<T>(map_sum(context, a.size, part, from)));
  auto shift = [top, rest](auto v) { return v - decltype(v)(top) - decltype(v)(rest); };
  map(context, a.size, shift, to, from);
}

template <class T>
void LogSoftmaxKernel<T>::columns(KernelContext& context, const T* from, T* to, int lane) {
  int64_t n = a.inner;
  T *tops_to = largest.data(lane), *totals_to = sums.data(lane);
  const T *tops = tops_to, *totals = totals_to;
  std::copy_n(from, n, tops_to);
  for (int64_t i = 1; i < a.size; ++i) {
    map(context, n, [](auto v, auto w) { return maximum(v, w); }, tops_to, tops, from + i * n);
  }
  std::fill_n(totals_to, n, T(0));
  auto add = [](auto total, auto v, auto top) { return total + exp(v - top); };
  for (int64_t i = 0; i < a.size; ++i) map(context, n, add, totals_to, totals, from + i * n, tops);
  map(context, n, [](auto total) { return log(total); }, totals_to, totals);
  auto shift = [](auto v, auto top, auto rest) { return v - top - rest; };
  for (int64_t i = 0; i < a.size; ++i) map(context, n, shift, to + i * n, from + i * n, tops, totals);
}

template <class T>
void LogSoftmaxGradKernel<T>::run(KernelContext& context) {
  int64_t block = a.size * a.inner;
  each_long_item(context, {a.outer, kLogSoftmaxCost * static_cast<double>(block)}, [&](int64_t o, int lane) {
    const T *y = out.data() + o * block, *g = out_gradient.data() + o * block;
    T* to = x_gradient.data() + o * block;
    if (a.inner == 1) {
      T sum = static_cast<T>(map_sum(context, a.size, [](auto v) { return v; }, g));
      map(context, a.size, [sum](auto v, auto w) { return w - exp(v) * decltype(v)(sum); }, to, y, g);
    } else {
      columns(context, y, g, to, lane);
    }
  });
}

template <class T>
void LogSoftmaxGradKernel<T>::columns(KernelContext& context, const T* y, const T* g, T* to, int lane) {
  int64_t n = a.inner;
  T* totals_to = sums.data(lane);
  const T* totals = totals_to;
  std::fill_n(totals_to, n, T(0));
  auto add = [](auto total, auto v) { return total + v; };
  for (int64_t i = 0; i < a.size; ++i) map(context, n, add, totals_to, totals, g + i * n);
  auto pass = [](auto v, auto w, auto total) { return w - exp(v) * total; };
  for (int64_t i = 0; i < a.size; ++i) map(context, n, pass, to + i * n, y + i * n, g + i * n, totals);
}

}  // namespace
}  // namespace paddle_mini

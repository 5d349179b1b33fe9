// Kernels of top_k and argsort on a CPU.
#pragma once

#include <cmath>

#include "math/copy.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {

template <TopKRule rule>
template <class T>
void TopKKernel<rule>::For<T>::run(KernelContext& context) {
  if (k == 0) return;
  const double comparisons = static_cast<double>(lines.length) * std::log2(static_cast<double>(k) + 1);
  each_item(context, {lines.count(), 2 * comparisons}, [&](int64_t number, int lane) {
    const T* line = x.data() + lines.begin_of(number);
    ComesBefore<T> before{line, lines.inner, top_k.largest};
    int64_t* order = line_order.data(lane);
    const int64_t* best = k == 1 ? first(before, order) : sorted(before, order);
    const int64_t to = number / lines.inner * k * lines.inner + number % lines.inner;
    for (int64_t j = 0; j < k; ++j) {
      out[to + j * lines.inner] = line[best[j] * lines.inner];
      indices[to + j * lines.inner] = best[j];
    }
  });
}

template <TopKRule rule>
template <class T>
const int64_t* TopKKernel<rule>::For<T>::first(const ComesBefore<T>& before, int64_t* order) {
  int64_t best = 0;
  for (int64_t j = 1; j < lines.length; ++j) best = before(j, best) ? j : best;
  order[0] = best;
  return order;
}

template <TopKRule rule>
template <class T>
const int64_t* TopKKernel<rule>::For<T>::sorted(const ComesBefore<T>& before, int64_t* order) {
  int64_t* end = order + lines.length;
  std::iota(order, end, int64_t{0});
  if (k == lines.length) std::sort(order, end, before);
  else std::partial_sort(order, order + k, end, before);
  return order;
}

template <TopKRule rule>
template <class T>
void TopKGradKernel<rule>::For<T>::run(KernelContext& context) {
  for (int64_t i = 0, n = indices.numel(); i < n; ++i) {
    if (indices[i] < 0 || indices[i] >= lines.length) refuse_index(indices[i]);
  }
  fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
  each_item(context, {lines.count(), 4 * static_cast<double>(k)}, [&](int64_t line) {
    const int64_t first = line / lines.inner * k * lines.inner + line % lines.inner, to = lines.begin_of(line);
    for (int64_t j = 0; j < k; ++j) {
      const int64_t from = first + j * lines.inner;
      x_gradient[to + indices[from] * lines.inner] += out_gradient[from];
    }
  });
}

}  // namespace paddle_mini

// The kernels of tril_triu on a CPU.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <bool backward>
template <class T>
void TrilTriuKernel<backward>::For<T>::run(KernelContext& context) {
  const double cost = bytes_cost(2.0 * sizeof(T)) * static_cast<double>(columns);
  each_item(context, {matrices * rows, cost}, [&](int64_t row) {
    const T* from = in.data() + row * columns;
    T* to = out.data() + row * columns;
    const int64_t i = row % rows;
    // Columns [begin, end) are kept.
    int64_t split = std::clamp<int64_t>(i + diagonal + (lower ? 1 : 0), 0, columns);
    int64_t begin = lower ? 0 : split, end = lower ? split : columns;
    std::fill(to, to + begin, T(0));
    if (to != from) std::copy(from + begin, from + end, to + begin);
    std::fill(to + end, to + columns, T(0));
  });
}

}  // namespace
}  // namespace paddle_mini

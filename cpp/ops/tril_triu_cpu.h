// The kernels of tril_triu on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <bool backward>
template <class T>
void TrilTriuKernel<backward>::For<T>::run(KernelContext&) {
  const T* from = in.data();
  T* to = out.data();
  for (int64_t m = 0; m < matrices; ++m) {
    for (int64_t i = 0; i < rows; ++i, from += columns, to += columns) {
      // Columns [begin, end) are kept.
      int64_t split = std::clamp<int64_t>(i + diagonal + (lower ? 1 : 0), 0, columns);
      int64_t begin = lower ? 0 : split, end = lower ? split : columns;
      std::fill(to, to + begin, T(0));
      if (to != from) std::copy(from + begin, from + end, to + begin);
      std::fill(to + end, to + columns, T(0));
    }
  }
}

}  // namespace
}  // namespace paddle_mini

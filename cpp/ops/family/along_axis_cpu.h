// Kernels of along_axis on a CPU.
#pragma once

#include "math/copy.h"

namespace paddle_mini {

inline void AlongAxis::check() const {
  int64_t low = negatives_too ? -length : 0;
  for (int64_t i = 0, n = index.numel(); i < n; ++i) {
    if (index[i] < low || index[i] >= length) refuse(index[i], i);
  }
}

// Index as [outer, picked, inner]: elements of one line along the axis may refer to the same element of X.
template <class F>
void AlongAxis::each(KernelContext& context, bool apart, F f) const {
  constexpr double kCost = 4;  // nanoseconds for an element: a random access
  const int64_t outer = static_cast<int64_t>(outer_.size()), inner = static_cast<int64_t>(inner_.size());
  const int64_t rows = outer * picked, step = x.numel(axis + 1, x.rank());
  auto part = [&](int64_t row, int64_t end_row, int64_t begin, int64_t end) {
    for (; row < end_row; ++row) {
      const int64_t first = outer_[static_cast<size_t>(row / picked)];
      for (int64_t column = begin; column < end; ++column) {
        const int64_t i = row * inner + column, at = index[i] < 0 ? index[i] + length : index[i];
        f(i, first + at * step + inner_[static_cast<size_t>(column)]);
      }
    }
  };
  if (apart && inner > outer) {
    parallel_for(context, {inner, kCost * static_cast<double>(rows)},
                 [&](int64_t begin, int64_t end) { part(0, rows, begin, end); });
  } else {
    parallel_for(context, {rows, kCost * static_cast<double>(inner), apart ? std::max<int64_t>(picked, 1) : 1},
                 [&](int64_t begin, int64_t end) { part(begin, end, 0, inner); });
  }
}

template <const AlongRule& rule>
template <class T>
void TakeKernel<rule>::For<T>::run(KernelContext& context) {
  along.check();
  along.each(context, false, [this](int64_t i, int64_t at) { out[i] = x[at]; });
}

template <const AlongRule& rule>
template <class T>
void TakeGradKernel<rule>::For<T>::run(KernelContext& context) {
  along.check();
  fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
  along.each(context, true, [this](int64_t i, int64_t at) { x_gradient[at] += out_gradient[i]; });
}

}  // namespace paddle_mini

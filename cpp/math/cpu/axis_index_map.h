// Axis index maps on a CPU, block by block.
#pragma once

#include <algorithm>

#include "math/copy.h"

namespace paddle_mini {

template <class F>
void AxisLoop::each_block_of(int axis, int64_t first, int64_t last, F f) const {
  const int axes = static_cast<int>(outer_.size());
  int64_t index[2 * Shape::kMaxRank], low[2 * Shape::kMaxRank + 1], high[2 * Shape::kMaxRank + 1];
  for (int d = 0; d <= axes; ++d) {
    low[d] = d == axis ? first : 0, high[d] = d == axis ? last : static_cast<int64_t>(offsets(d).size());
    if (low[d] >= high[d]) return;
  }
  std::copy_n(low, axes, index);
  while (true) {
    int64_t base = 0, row = 0;
    for (int d = 0; d < axes; ++d) {
      base = sum(base, outer_[d][static_cast<size_t>(index[d])]);
      row = row * static_cast<int64_t>(outer_[d].size()) + index[d];
    }
    int64_t to = (row * static_cast<int64_t>(inner_.size()) + low[axes]) * block_;
    for (int64_t j = low[axes]; j < high[axes]; ++j, to += block_) f(to, sum(base, inner_[static_cast<size_t>(j)]));
    int d = axes - 1;
    for (; d >= 0 && ++index[d] == high[d]; --d) index[d] = low[d];
    if (d < 0) return;
  }
}

template <class F>
void AxisLoop::each_block(KernelContext& context, bool apart, double cost, F f) const {
  constexpr int64_t kColumns = 64;
  if (numel_ == 0) return;
  auto whole = [&](int64_t to, int64_t from) { f(to, from, int64_t{0}, block_); };
  const double time = cost * static_cast<double>(numel_);
  const int axis = is_short(context, {1, time}) ? -1 : splitting_axis(apart, context.threads);
  const int64_t size = axis < 0 ? 1 : static_cast<int64_t>(offsets(axis).size());
  if (size < context.threads && block_ >= 2 * kColumns) {
    return parallel_for(context, {block_, time / static_cast<double>(block_), kColumns},
                        [&](int64_t begin, int64_t end) {
                          each_block_of(-1, 0, 0, [&](int64_t to, int64_t from) { f(to, from, begin, end); });
                        });
  }
  if (axis < 0) return each_block_of(-1, 0, 0, whole);
  parallel_for(context, {size, time / static_cast<double>(size)},
               [&](int64_t first, int64_t last) { each_block_of(axis, first, last, whole); });
}

template <class T>
void AxisLoop::copy(KernelContext& context, const T* in, T* out, T outside) const {
  each_block(context, false, bytes_cost(2 * sizeof(T)), [=](int64_t to, int64_t from, int64_t begin, int64_t end) {
    if (from == kOutside) std::fill(out + to + begin, out + to + end, outside);
    else if (end - begin == 1) out[to + begin] = in[from + begin];
    else std::copy(in + from + begin, in + from + end, out + to + begin);
  });
}

template <class T>
void AxisLoop::add_back(KernelContext& context, const T* out, T* source) const {
  fill_n(context, source, in_numel_, T(0));
  each_block(context, true, bytes_cost(3 * sizeof(T)), [=](int64_t to, int64_t from, int64_t begin, int64_t end) {
    if (from == kOutside) return;
    for (int64_t i = begin; i < end; ++i) source[from + i] = static_cast<T>(source[from + i] + out[to + i]);
  });
}

template <class T>
void AxisLoop::put(KernelContext& context, const T* out, T* source) const {
  each_block(context, false, bytes_cost(2 * sizeof(T)), [=](int64_t to, int64_t from, int64_t begin, int64_t end) {
    std::copy(out + to + begin, out + to + end, source + from + begin);
  });
}

template <class T>
void AxisLoop::put_value(KernelContext& context, T value, T* source) const {
  each_block(context, false, bytes_cost(sizeof(T)), [=](int64_t, int64_t from, int64_t begin, int64_t end) {
    std::fill(source + from + begin, source + from + end, value);
  });
}

}  // namespace paddle_mini

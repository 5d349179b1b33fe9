// Sums of products over labelled axes on a CPU: nested loops.
#pragma once

#include <algorithm>
#include <vector>

namespace paddle_mini {

inline void require_loops(size_t, size_t) {}  // any number is supported

template <class T>
void LabelledLoops::run(KernelContext&, const std::vector<const T*>& in, T* to) {
  std::fill_n(to, to_numel_, T(0));
  std::fill(at_.begin(), at_.end(), 0);
  if (!nothing_) walk(0, in, to);
}

template <class F>
void LabelledLoops::each(const Loop& loop, F f) {
  for (int64_t i = 0; i < loop.size; ++i) {
    f(i);
    for (size_t o = 0; o < at_.size(); ++o) at_[o] += loop.steps[o];
  }
  for (size_t o = 0; o < at_.size(); ++o) at_[o] -= loop.steps[o] * loop.size;
}

template <class T>
void LabelledLoops::walk(size_t depth, const std::vector<const T*>& in, T* to) {
  if (depth == kept_) {
    *to += static_cast<T>(sum(depth, in));
    return;
  }
  const Loop& loop = loops_[depth];
  each(loop, [&](int64_t i) { walk(depth + 1, in, to + i * loop.to_step); });
}

template <class T>
double LabelledLoops::sum(size_t depth, const std::vector<const T*>& in) {
  double total = depth == loops_.size() ? 1 : 0;
  if (depth == loops_.size()) {
    for (size_t o = 0; o < in.size(); ++o) total *= static_cast<double>(in[o][at_[o]]);
  } else {
    each(loops_[depth], [&](int64_t) { total += sum(depth + 1, in); });
  }
  return total;
}

}  // namespace paddle_mini

// AxisFolds on a CPU.
#pragma once

#include <algorithm>
#include <vector>
#include "math/axis_index_map.h"

namespace paddle_mini {

class AxisFolds {
 public:
  AxisFolds(const Shape& x, const std::vector<bool>& reduced);

  // out[j] = the fold by join, starting from `first`, of f(x[i], other[j]...) over the i that are reduced to j
  template <class F, class Join, class A, class T, class... Others>
  void fold(KernelContext& context, F f, Join join, A first, A* out, const T* x, const Others*... others) const;

  // to[i] = f(x[i], other[j]...), where i is reduced to j
  template <class F, class To, class T, class... Others>
  void map(KernelContext& context, F f, To* to, const T* x, const Others*... others) const;

 private:
  static constexpr double kCost = 2;  // nanoseconds for an element: f is not known

  AxisLoop loop_;  // from X to the result; reduced axes have step 0
  int64_t numel_ = 1;  // result size
};

inline AxisIndexMaps fold_index_maps(const Shape& x, const std::vector<bool>& reduced) {
  AxisIndexMaps index_maps = unchanged_axes(x);
  for (size_t i = 0; i < index_maps.size(); ++i) {
    if (reduced[i]) index_maps[i].in = 1, index_maps[i].step = 0;
  }
  return index_maps;
}

inline AxisFolds::AxisFolds(const Shape& x, const std::vector<bool>& reduced) : loop_(fold_index_maps(x, reduced)) {
  for (int d = 0; d < x.rank(); ++d) numel_ *= reduced[static_cast<size_t>(d)] ? 1 : x[d];
}

template <class F, class Join, class A, class T, class... Others>
void AxisFolds::fold(KernelContext& context, F f, Join join, A first, A* out, const T* x,
                     const Others*... others) const {
  fill_n(context, out, numel_, first);
  loop_.each_block(context, true, kCost, [=](int64_t at, int64_t to, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      out[to + i] = static_cast<A>(join(out[to + i], static_cast<A>(f(x[at + i], others[to + i]...))));
    }
  });
}

template <class F, class To, class T, class... Others>
void AxisFolds::map(KernelContext& context, F f, To* to, const T* x, const Others*... others) const {
  loop_.each_block(context, false, kCost, [=](int64_t at, int64_t from, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[at + i] = f(x[at + i], others[from + i]...);
  });
}

}  // namespace paddle_mini

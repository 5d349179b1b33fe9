// AxisFolds on a GPU.
#pragma once

#include <vector>
#include "math/gpu/fold.h"

namespace paddle_mini {

namespace axis_folds_gpu {

// f(x[i], other[j]...), where element i of X is reduced to element j.
template <class F, class T, class... Others>
struct Transform {
  F f;
  const T* x;
  std::tuple<const Others*...> others;

  PM_DEVICE auto operator()(const int64_t (&at)[2]) const { return of(at, std::index_sequence_for<Others...>{}); }
  template <size_t... I>
  PM_DEVICE auto of(const int64_t (&at)[2], std::index_sequence<I...>) const {
    return f(x[at[0]], std::get<I>(others)[at[1]]...);
  }
};

template <class A>
struct Put {
  A* out;
  PM_DEVICE void operator()(int64_t o, A value) const { out[o] = value; }
};

template <class Transform, class To>
struct MapBody {
  StridedIndex<2> index_map;
  Transform transform;
  To* to;
  PM_DEVICE void operator()() const {
    for (int64_t i = block_index() * kThreads + thread_index(); i < index_map.count; i += block_count() * kThreads) {
      int64_t at[2] = {};
      index_map.move(i, at);
      to[i] = transform(at);
    }
  }
};

}  // namespace axis_folds_gpu

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
  StridedIndex<2> all_, kept_, folded_;  // offsets in X and in the result
};

inline AxisFolds::AxisFolds(const Shape& x, const std::vector<bool>& reduced) {
  int64_t step = 1, out_step = 1, size = 1;
  // Adjacent axes that are all reduced, or all kept, are merged.
  for (int d = x.rank() - 1; d >= 0; --d) {
    size *= x[d];
    if (d > 0 && reduced[d] == reduced[d - 1]) continue;
    if (size != 1) {
      all_.add(size, {step, reduced[d] ? 0 : out_step});
      (reduced[d] ? folded_ : kept_).add(size, {step, reduced[d] ? 0 : out_step});
    }
    step *= size;
    if (!reduced[d]) out_step *= size;
    size = 1;
  }
}

template <class F, class Join, class A, class T, class... Others>
void AxisFolds::fold(KernelContext& context, F f, Join join, A first, A* out, const T* x,
                     const Others*... others) const {
  using Transform = axis_folds_gpu::Transform<F, T, Others...>;
  paddle_mini::fold(context, kept_, folded_, first, Transform{f, x, {others...}}, join, axis_folds_gpu::Put<A>{out});
}

template <class F, class To, class T, class... Others>
void AxisFolds::map(KernelContext& context, F f, To* to, const T* x, const Others*... others) const {
  using Transform = axis_folds_gpu::Transform<F, T, Others...>;
  launch(context, blocks_for(all_.count), axis_folds_gpu::MapBody<Transform, To>{all_, {f, x, {others...}}, to});
}

}  // namespace paddle_mini

// Loops of Broadcast on a GPU.
#pragma once

#include "math/gpu/fold.h"

namespace paddle_mini {

namespace broadcast_gpu {

// out[i] = f(x, y), or f(x, y, gradient[i]) if has_gradient.
template <class T, class F, bool has_gradient>
struct Body {
  StridedIndex<2> index_map;
  F f;
  const T *x, *y, *gradient;
  T* out;

  PM_DEVICE void operator()() const {
    for (int64_t i = block_index() * kThreads + thread_index(); i < index_map.count; i += block_count() * kThreads) {
      int64_t at[2] = {};
      index_map.move(i, at);
      if constexpr (has_gradient) out[i] = f(x[at[0]], y[at[1]], gradient[i]);
      else out[i] = f(x[at[0]], y[at[1]]);
    }
  }
};

template <class T, class F>
struct Get {
  F f;
  const T *x, *y, *gradient;
  PM_DEVICE T operator()(const int64_t (&at)[3]) const { return f(x[at[0]], y[at[1]], gradient[at[2]]); }
};

template <class T>
struct Put {
  T* to;
  template <class A>
  PM_DEVICE void operator()(int64_t o, A sum) const {
    to[o] = static_cast<T>(sum);
  }
};

}  // namespace broadcast_gpu

template <class T, class F>
void Broadcast::map(KernelContext& context, F f, const T* x, const T* y, T* out) const {
  if (same_shape_) return paddle_mini::map(context, numel_, f, out, x, y);
  StridedIndex<2> index_map;
  index_map.add(inner_.size, {inner_.x_step, inner_.y_step});
  for (auto dim = outer_.rbegin(); dim != outer_.rend(); ++dim) index_map.add(dim->size, {dim->x_step, dim->y_step});
  launch(context, blocks_for(numel_), broadcast_gpu::Body<T, F, false>{index_map, f, x, y, nullptr, out});
}

template <class T, class F>
void Broadcast::map_range(int64_t, int64_t, F, const T*, const T*, T*) const {
  fail<ProgramError>("a kernel of a GPU has no ranges");
}

template <class T, bool ToX, class F, class To>
void Broadcast::sum_to(KernelContext& context, F f, const T* x, const T* y, const T* gradient, To* to,
                       int64_t to_numel) const {
  if (to_numel == 0) return;
  std::vector<Dim> dims(outer_);
  dims.push_back(inner_);
  if (same_shape_) return paddle_mini::map(context, numel_, f, to, x, y, gradient);
  if (to_numel == numel_) {  // the operand is not broadcast
    StridedIndex<2> index_map;
    for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) index_map.add(dim->size, {dim->x_step, dim->y_step});
    return launch(context, blocks_for(numel_), broadcast_gpu::Body<T, F, true>{index_map, f, x, y, gradient, to});
  }
  StridedIndex<3> remaining, folded;
  int64_t step = 1;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    StridedIndex<3>& index_map = (ToX ? dim->x_step : dim->y_step) ? remaining : folded;
    index_map.add(dim->size, {dim->x_step, dim->y_step, step});
    step *= dim->size;
  }
  fold(context, remaining, folded, SumOf<T>(0), broadcast_gpu::Get<T, F>{f, x, y, gradient}, Plus{},
       broadcast_gpu::Put<T>{to});
}

}  // namespace paddle_mini

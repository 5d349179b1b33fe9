// Broadcast's loops on a GPU.
#pragma once

#include "math/gpu/fold.h"

namespace paddle_mini {

namespace broadcast_gpu {

// out[i] = f(x, y), or f(x, y, gradient[i]) where there is one.
template <class T, class F, bool has_gradient>
struct Body {
  Walk<2> walk;
  F f;
  const T *x, *y, *gradient;
  T* out;

  PM_DEVICE void operator()() const {
    for (int64_t i = block_index() * kThreads + thread_index(); i < walk.count; i += block_count() * kThreads) {
      int64_t at[2] = {};
      walk.move(i, at);
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
void Broadcast::map(Device& device, F f, const T* x, const T* y, T* out) const {
  if (same_shape_) return paddle_mini::map(device, numel_, f, out, x, y);
  Walk<2> walk;
  walk.add(inner_.size, {inner_.x_step, inner_.y_step});
  for (auto dim = outer_.rbegin(); dim != outer_.rend(); ++dim) walk.add(dim->size, {dim->x_step, dim->y_step});
  launch(device, blocks_for(numel_), broadcast_gpu::Body<T, F, false>{walk, f, x, y, nullptr, out});
}

template <class T, bool ToX, class F>
void Broadcast::sum_to(Device& device, F f, const T* x, const T* y, const T* gradient, T* to, int64_t to_numel) const {
  if (to_numel == 0) return;
  std::vector<Dim> dims(outer_);
  dims.push_back(inner_);
  if (same_shape_) return paddle_mini::map(device, numel_, f, to, x, y, gradient);
  if (to_numel == numel_) {  // and lies as the result does
    Walk<2> walk;
    for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) walk.add(dim->size, {dim->x_step, dim->y_step});
    return launch(device, blocks_for(numel_), broadcast_gpu::Body<T, F, true>{walk, f, x, y, gradient, to});
  }
  Walk<3> kept, folded;
  int64_t step = 1;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    Walk<3>& walk = (ToX ? dim->x_step : dim->y_step) ? kept : folded;
    walk.add(dim->size, {dim->x_step, dim->y_step, step});
    step *= dim->size;
  }
  fold(device, kept, folded, SumOf<T>(0), broadcast_gpu::Get<T, F>{f, x, y, gradient}, Plus{},
       broadcast_gpu::Put<T>{to});
}

}  // namespace paddle_mini

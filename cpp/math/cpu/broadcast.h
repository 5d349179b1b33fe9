// Loops of Broadcast on a CPU.
#pragma once

#include "math/map.h"

namespace paddle_mini {

template <class T, class F>
void Broadcast::map(KernelContext& context, F f, const T* x, const T* y, T* out) const {
  each_row([&](int64_t xi, int64_t yi, int64_t oi) { map_row(context, f, x + xi, y + yi, out + oi); });
}

template <class T, class F>
void Broadcast::map_row(KernelContext& context, F f, const T* x, const T* y, T* out) const {
  int64_t n = inner_.size;
  if (inner_.x_step && inner_.y_step) {
    paddle_mini::map(context, n, f, out, x, y);
  } else if (inner_.x_step) {
    T constant = *y;
    paddle_mini::map(context, n, [f, constant](auto a) { return f(a, decltype(a)(constant)); }, out, x);
  } else {
    T constant = *x;
    paddle_mini::map(context, n, [f, constant](auto b) { return f(decltype(b)(constant), b); }, out, y);
  }
}

template <class T, bool ToX, class F>
void Broadcast::sum_to(KernelContext& context, F f, const T* x, const T* y, const T* gradient, T* to,
                       int64_t to_numel) const {
  bool sums = to_numel != numel_;
  if (sums) std::fill(to, to + to_numel, T(0));
  each_row([&](int64_t xi, int64_t yi, int64_t oi) {
    const T *xs = x + xi, *ys = y + yi, *gs = gradient + oi;
    T* target = to + (ToX ? xi : yi);
    auto with_x = [f, c = *xs](auto b, auto g) { return f(decltype(b)(c), b, g); };
    auto with_y = [f, c = *ys](auto a, auto g) { return f(a, decltype(a)(c), g); };
    if (inner_.x_step && inner_.y_step) {
      add_row(context, sums, target, f, xs, ys, gs);
    } else if constexpr (ToX) {
      if (inner_.x_step) add_row(context, sums, target, with_y, xs, gs);
      else *target += sum_row<T>(context, with_x, ys, gs);
    } else {
      if (inner_.y_step) add_row(context, sums, target, with_x, ys, gs);
      else *target += sum_row<T>(context, with_y, xs, gs);
    }
  });
}

// target[i] = f(in[i]...), or += if several rows of the result have the same target.
template <class T, class F, class... Inputs>
void Broadcast::add_row(KernelContext& context, bool add, T* target, F f, const Inputs*... in) const {
  if (add) {
    auto added = [f](auto total, auto... a) { return total + f(a...); };
    paddle_mini::map(context, inner_.size, added, target, static_cast<const T*>(target), in...);
  } else {
    paddle_mini::map(context, inner_.size, f, target, in...);
  }
}

template <class T, class F>
T Broadcast::sum_row(KernelContext& context, F f, const T* a, const T* g) const {
  return static_cast<T>(map_sum(context, inner_.size, f, a, g));
}

}  // namespace paddle_mini

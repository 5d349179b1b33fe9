// Sums over whole arrays on a GPU, in a fixed order.
#pragma once

#include <tuple>
#include <utility>
#include "math/gpu/fold.h"

namespace paddle_mini {

namespace sum_gpu {
template <class F, class... Inputs>
struct Get {
  F f;
  std::tuple<const Inputs*...> in;

  PM_DEVICE auto operator()(const int64_t (&at)[1]) const { return of(at[0], std::index_sequence_for<Inputs...>{}); }
  template <size_t... I>
  PM_DEVICE auto of(int64_t i, std::index_sequence<I...>) const {
    return bind_scalars(f)(std::get<I>(in)[i]...);
  }
};
template <class A>
struct Put {
  double divisor;
  A* out;
  PM_DEVICE void operator()(int64_t, double sum) const { *out = static_cast<A>(sum / divisor); }
};

template <class A, class F, class... Inputs>
void sum(KernelContext& context, int64_t n, F f, double divisor, A* out, const Inputs*... in) {
  StridedIndex<1> one, all;
  all.add(n, {1});
  fold(context, one, all, 0.0, Get<F, Inputs...>{f, {in...}}, Plus{}, Put<A>{divisor, out});
}
}  // namespace sum_gpu

template <class T, class F>
void sum_of(KernelContext& context, int64_t n, F f, const T* x, T* out, double divisor = 1) {
  sum_gpu::sum(context, n, f, divisor, out, x);
}

template <class F, class... Inputs>
void sum_to(KernelContext& context, int64_t n, F f, double* out, const Inputs*... in) {
  sum_gpu::sum(context, n, f, 1, out, in...);
}

}  // namespace paddle_mini

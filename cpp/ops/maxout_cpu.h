// The kernels of maxout on a CPU.
#pragma once

#include "math/copy.h"

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void MaxoutKernel<T>::run(KernelContext& context) {
  const double cost = bytes_cost(3.0 * sizeof(T)) * static_cast<double>(blocks.groups * blocks.inner);
  each_long_item(context, {blocks.outer, cost}, [&](int64_t o) {
    const T* from = x.data() + o * blocks.groups * blocks.inner;
    T* to = out.data() + o * blocks.inner;
    std::copy_n(from, blocks.inner, to);
    for (int64_t g = 1; g < blocks.groups; ++g) {
      auto larger = [](auto a, auto b) { return maximum(a, b); };
      map(context, blocks.inner, larger, to, static_cast<const T*>(to), from + g * blocks.inner);
    }
  });
}

template <class T>
void MaxoutGradKernel<T>::run(KernelContext& context) {
  const double cost = bytes_cost(3.0 * sizeof(T)) * static_cast<double>(blocks.groups * blocks.inner);
  fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
  each_item(context, {blocks.outer, cost}, [&](int64_t o) {
    for (int64_t i = 0; i < blocks.inner; ++i) {
      int64_t to = o * blocks.inner + i, first = o * blocks.groups * blocks.inner + i, g = 0;
      while (g < blocks.groups && x[first + g * blocks.inner] != out[to]) ++g;
      if (g < blocks.groups) x_gradient[first + g * blocks.inner] = out_gradient[to];
    }
  });
}

}  // namespace
}  // namespace paddle_mini

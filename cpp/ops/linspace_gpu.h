// GPU kernels of linspace.
#pragma once

#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

template <class T>
struct EvenlySpaced {
  const void *start, *stop;
  DType start_dtype, stop_dtype;
  int64_t n;
  T* out;

  PM_DEVICE void operator()(int64_t i) const {
    T first = first_as<T>(start, start_dtype), last = first_as<T>(stop, stop_dtype);
    double from = static_cast<double>(first), to = static_cast<double>(last);
    double step = n > 1 ? (to - from) / static_cast<double>(n - 1) : 0;
    if (n == 1) out[i] = first;
    else if (i < n / 2) out[i] = nearest_held<T>(from + step * static_cast<double>(i));
    else out[i] = nearest_held<T>(to - step * static_cast<double>(n - 1 - i));
  }
};

template <class T>
void LinspaceKernel<T>::run(KernelContext& context) {
  for_each_index(context, out.numel(),
                 EvenlySpaced<T>{start.tensor.data, stop.tensor.data, start.tensor.dtype, stop.tensor.dtype,
                                 out.numel(), out.data()});
}

}  // namespace
}  // namespace paddle_mini

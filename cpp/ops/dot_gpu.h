// GPU kernels of dot.
#pragma once

#include "math/gpu/dot_rows.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

template <class T>
struct TimesOfRow {
  int64_t size;
  const T *factors, *in;
  T* out;
  PM_HD void operator()(int64_t i) const { out[i] = in[i] * factors[i / size]; }
};

template <class T>
void DotKernel<T>::run(KernelContext& context) {
  dot_rows<T>(context, out.numel(), size, x.data(), y.data(), out.data());
}

template <class T>
void DotGradKernel<T>::run(KernelContext& context) {
  int64_t n = x.numel();
  if (x_gradient) for_each_index(context, n, TimesOfRow<T>{size, out_gradient.data(), y.data(), x_gradient.data()});
  if (y_gradient) for_each_index(context, n, TimesOfRow<T>{size, out_gradient.data(), x.data(), y_gradient.data()});
}

}  // namespace
}  // namespace paddle_mini

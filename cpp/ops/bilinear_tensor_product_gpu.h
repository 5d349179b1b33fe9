// GPU kernels of bilinear_tensor_product.
#pragma once

#include "math/gpu/dot_rows.h"

namespace paddle_mini {
namespace {

template <class T>
void BilinearKernel<T>::add_up(KernelContext& context, int64_t o) {
  dot_rows<T>(context, s.batch, s.y, product.data(), y.data(), out.data() + o, s.out, bias ? bias.data() + o : nullptr);
}

// Multiplies row b by factors[b * step].
template <class T>
struct TimesOfColumn {
  int64_t size, step;
  const T *factors, *from;
  T* to;
  PM_HD void operator()(int64_t i) const { to[i] = from[i] * factors[i / size * step]; }
};

template <class T>
void BilinearGradKernel<T>::scale(KernelContext& context, int64_t o, int64_t size, const T* from, T* to) {
  for_each_index(context, s.batch * size, TimesOfColumn<T>{size, s.out, out_gradient.data() + o, from, to});
}

}  // namespace
}  // namespace paddle_mini

// GPU kernels of label_smooth.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/lines.h"

namespace paddle_mini {
namespace {

template <class T>
struct SmoothRows {
  SmoothToPrior<T> smooth;
  int64_t classes;
  const T *x, *prior;
  T* out;
  PM_DEVICE void operator()(int64_t i) const { out[i] = smooth(x[i], prior[line_place(i, classes, 1).at]); }
};

template <class T>
void LabelSmoothKernel<T>::smooth_to_prior(KernelContext& context, int64_t n, const SmoothToPrior<T>& smooth) const {
  for_each_index(context, n, SmoothRows<T>{smooth, classes, x.data(), prior.data(), out.data()});
}

}  // namespace
}  // namespace paddle_mini

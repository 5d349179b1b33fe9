// CPU kernels of equal_all.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void EqualAllKernel<T>::run(KernelContext&) {
  bool equal = x.shape() == y.shape();
  for (int64_t i = 0, n = x.numel(); equal && i < n; ++i) equal = equal_or_not(x[i], y[i]) != T(0);
  out[0] = equal;
}

}  // namespace
}  // namespace paddle_mini

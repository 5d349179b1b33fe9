// Kernels of pair_loss on a CPU.
#pragma once

namespace paddle_mini {

template <class F>
template <class T>
void PairLossKernel<F>::For<T>::check(KernelContext&) const {
  for (int64_t i = 0, n = x.numel(); i < n; ++i) {
    if (!F::fits(x[i])) F::refuse(x[i], i);
  }
}

}  // namespace paddle_mini

// Kernels of pair_loss on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/report_fault.h"

namespace paddle_mini {

namespace pair_loss_gpu {
template <class F, class T>
struct Check {
  const T* x;
  Fault* fault;
  unsigned long long step;
  PM_DEVICE void operator()(int64_t i) const {
    if (F::fits(x[i])) return;
    double value = static_cast<double>(x[i]);
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    report_fault(fault, step, bits, i);
  }
};
}  // namespace pair_loss_gpu

template <class F>
template <class T>
void PairLossKernel<F>::For<T>::check(KernelContext& context) const {
  for_each_index(context, x.numel(), pair_loss_gpu::Check<F, T>{x.data(), context.fault, context.step});
}

}  // namespace paddle_mini

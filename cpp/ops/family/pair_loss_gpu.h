// The kernels of pair_loss on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/raise.h"

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
    raise(fault, step, bits, i);
  }
};
}  // namespace pair_loss_gpu

template <class F>
template <class T>
void PairLossKernel<F>::For<T>::check(Device& device) const {
  for_each_index(device, x.numel(), pair_loss_gpu::Check<F, T>{x.data(), device.fault, device.step});
}

}  // namespace paddle_mini

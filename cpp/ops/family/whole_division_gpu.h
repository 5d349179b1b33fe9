// The kernels of whole_division on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/raise.h"

namespace paddle_mini {

template <class T>
struct RefuseZero {
  const T* y;
  Fault* fault;
  unsigned long long step;
  PM_DEVICE void operator()(int64_t i) const {
    if (y[i] == T(0)) raise(fault, step, 0, i);
  }
};

template <class F>
template <class T>
void WholeDivisionKernel<F>::For<T>::run(Device& device) {
  if constexpr (std::is_integral_v<T>) {
    for_each_index(device, this->y.numel(), RefuseZero<T>{this->y.data(), device.fault, device.step});
  }
  BinaryKernel<Divided<F>>::template For<T>::run(device);
}

}  // namespace paddle_mini

// Kernels of integer_division on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/report_fault.h"

namespace paddle_mini {

template <class T>
struct RefuseZero {
  const T* y;
  Fault* fault;
  unsigned long long step;
  PM_DEVICE void operator()(int64_t i) const {
    if (y[i] == T(0)) report_fault(fault, step, 0, i);
  }
};

template <class F>
template <class T>
void IntegerDivisionKernel<F>::For<T>::run(KernelContext& context) {
  if constexpr (std::is_integral_v<T>) {
    for_each_index(context, this->y.numel(), RefuseZero<T>{this->y.data(), context.fault, context.step});
  }
  BinaryKernel<Divided<F>>::template For<T>::run(context);
}

}  // namespace paddle_mini

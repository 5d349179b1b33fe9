// The kernels of set_value on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
const T* SetValueKernel<T>::listed_on(KernelContext&) const {
  return listed.get();
}

}  // namespace
}  // namespace paddle_mini

// Kernels of integer_division on a CPU.
#pragma once

namespace paddle_mini {

template <class F>
template <class T>
void IntegerDivisionKernel<F>::For<T>::run(KernelContext& context) {
  if constexpr (std::is_integral_v<T>) {
    for (int64_t i = 0; i < this->y.numel(); ++i) {
      if (this->y[i] == 0) refuse_zero(i);
    }
  }
  BinaryKernel<Divided<F>>::template For<T>::run(context);
}

}  // namespace paddle_mini

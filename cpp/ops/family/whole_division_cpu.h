// The kernels of whole_division on a CPU.
#pragma once

namespace paddle_mini {

template <class F>
template <class T>
void WholeDivisionKernel<F>::For<T>::run(Device& device) {
  if constexpr (std::is_integral_v<T>) {
    for (int64_t i = 0; i < this->y.numel(); ++i) {
      if (this->y[i] == 0) refuse_zero(i);
    }
  }
  BinaryKernel<Divided<F>>::template For<T>::run(device);
}

}  // namespace paddle_mini

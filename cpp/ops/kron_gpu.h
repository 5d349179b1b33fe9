// The kernels of kron on a GPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void KronKernel<T>::run(Device& device) {
  over_x.copy(device, x.data(), out.data(), T(0));
  over_y.copy(device, y.data(), stretched.data(), T(0));
  const T *a = out.data(), *b = stretched.data();
  map(device, out.numel(), KronProduct(), out.data(), a, b);
}

}  // namespace
}  // namespace paddle_mini

// GPU kernels of kron.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void KronKernel<T>::run(KernelContext& context) {
  over_x.copy(context, x.data(), out.data(), T(0));
  over_y.copy(context, y.data(), broadcast_y.data(), T(0));
  const T *a = out.data(), *b = broadcast_y.data();
  map(context, out.numel(), WrappingTimes(), out.data(), a, b);
}

}  // namespace
}  // namespace paddle_mini

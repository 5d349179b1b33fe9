// The kernels of p_norm on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void PNormKernel<T>::run(KernelContext& context) {
  norm.with_step([&](auto step) { folds.fold(context, Itself{}, step, norm.first(), sums.data(), x.data()); });
  for_each_index(context, out.numel(), NormOfSum<T>{norm, sums.data(), out.data()});
}

}  // namespace
}  // namespace paddle_mini

// The kernels of p_norm on a GPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void PNormKernel<T>::run(KernelContext& context) {
  folds.fold(context, NormTerm{norm}, NormJoin{norm}, norm.first(), sums.data(), x.data());
  for_each_index(context, out.numel(), NormOfSum<T>{norm, sums.data(), out.data()});
}

}  // namespace
}  // namespace paddle_mini

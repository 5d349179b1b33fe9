// CPU kernels of kldiv_loss.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void KldivLossKernel<T>::sum(KernelContext& context) {
  loss[0] = static_cast<T>(map_sum(context, x.numel(), Divergence{}, x.data(), target.data())) * factor;
}

}  // namespace
}  // namespace paddle_mini

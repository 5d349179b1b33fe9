// The kernels of update_loss_scaling on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void UpdateLossScalingKernel<T>::clear(KernelContext& context) {
  for (size_t i = 0; i < xs.size(); ++i) {
    if (found[0]) std::fill_n(outs[i].data(), outs[i].numel(), T(0));
    else copy_all(context, xs[i], outs[i]);
  }
}

}  // namespace
}  // namespace paddle_mini

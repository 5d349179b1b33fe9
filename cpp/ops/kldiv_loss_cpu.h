// The kernels of kldiv_loss on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void KldivLossKernel<T>::sum(Device& device) {
  loss[0] = static_cast<T>(map_sum(device, x.numel(), Divergence{}, x.data(), target.data())) * factor;
}

}  // namespace
}  // namespace paddle_mini

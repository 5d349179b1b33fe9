// The kernels of label_smooth on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void LabelSmoothKernel<T>::smooth_to_prior(Device& device, int64_t n, const SmoothToPrior<T>& smooth) const {
  for (int64_t i = 0; i < n; i += classes) map(device, classes, smooth, out.data() + i, x.data() + i, prior.data());
}

}  // namespace
}  // namespace paddle_mini

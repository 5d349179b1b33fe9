// CPU kernels of label_smooth.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void LabelSmoothKernel<T>::smooth_to_prior(KernelContext& context, int64_t n, const SmoothToPrior<T>& smooth) const {
  for (int64_t i = 0; i < n; i += classes) map(context, classes, smooth, out.data() + i, x.data() + i, prior.data());
}

}  // namespace
}  // namespace paddle_mini

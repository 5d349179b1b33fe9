// GPU kernels of bias_corrected_average.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void BiasCorrectedAverageKernel<T>::run(KernelContext& context) {
  BiasCorrectionRule<T> correct{ScalarArg<int64_t>(counters, kUpdates), rho, gamma, eta};
  map(context, param.numel(), correct, out.data(), param.data(), average.data(), initial.data());
}

}  // namespace
}  // namespace paddle_mini

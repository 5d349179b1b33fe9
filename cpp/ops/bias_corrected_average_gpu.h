// The kernels of bias_corrected_average on a GPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void BiasCorrectedAverageKernel<T>::run(Device& device) {
  BiasCorrectionRule<T> correct{Uniform<int64_t>(counters, kUpdates), rho, gamma, eta};
  map(device, param.numel(), correct, out.data(), param.data(), average.data(), initial.data());
}

}  // namespace
}  // namespace paddle_mini

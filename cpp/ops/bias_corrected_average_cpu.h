// The kernels of bias_corrected_average on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void BiasCorrectedAverageKernel<T>::run(Device& device) {
  if (counters[kUpdates] == 0) {
    if (param.data() != out.data()) std::copy_n(param.data(), param.numel(), out.data());
    return;
  }
  BiasCorrectionRule<T> correct{Uniform<int64_t>(counters, kUpdates), rho, gamma, eta};
  map(device, param.numel(), correct, out.data(), param.data(), average.data(), initial.data());
}

}  // namespace
}  // namespace paddle_mini

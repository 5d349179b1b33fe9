// CPU kernels of bias_corrected_average.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void BiasCorrectedAverageKernel<T>::run(KernelContext& context) {
  if (counters[kUpdates] == 0) {
    if (param.data() != out.data()) std::copy_n(param.data(), param.numel(), out.data());
    return;
  }
  BiasCorrectionRule<T> correct{ScalarArg<int64_t>(counters, kUpdates), rho, gamma, eta};
  map(context, param.numel(), correct, out.data(), param.data(), average.data(), initial.data());
}

}  // namespace
}  // namespace paddle_mini

// The kernels of merged_adam on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void MergedAdamKernel<T>::run(KernelContext& context) {
  for (size_t i = 0; i < params.size(); ++i) {
    T power1 = powers1[i][0], power2 = powers2[i][0];
    AdamStep<T> step(beta1, beta2, power1, power2, rates[i][0], epsilon);
    map(context, params[i].numel(), step,
        std::tuple(params_out[i].data(), moments1_out[i].data(), moments2_out[i].data()), params[i].data(),
        moments1[i].data(), moments2[i].data(), grads[i].data());
    powers1_out[i][0] = global_powers ? power1 : beta1 * power1;
    powers2_out[i][0] = global_powers ? power2 : beta2 * power2;
  }
}

}  // namespace
}  // namespace paddle_mini

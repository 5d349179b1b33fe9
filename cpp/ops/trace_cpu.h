// The kernels of trace on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void TraceKernel<T>::run(KernelContext&) {
  for (size_t i = 0; i < d.matrices.size(); ++i) {
    const T* at = x.data() + d.matrices[i] + d.first;
    T sum = 0;
    for (int64_t j = 0; j < d.count; ++j) sum = static_cast<T>(sum + at[j * d.step]);
    out[static_cast<int64_t>(i)] = sum;
  }
}

template <class T>
void TraceGradKernel<T>::run(KernelContext&) {
  std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
  for (size_t i = 0; i < d.matrices.size(); ++i) {
    T* at = x_gradient.data() + d.matrices[i] + d.first;
    for (int64_t j = 0; j < d.count; ++j) at[j * d.step] = out_gradient[static_cast<int64_t>(i)];
  }
}

}  // namespace
}  // namespace paddle_mini

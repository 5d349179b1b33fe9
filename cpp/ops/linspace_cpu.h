// CPU kernels of linspace.
#pragma once

namespace paddle_mini {
namespace {

// Computes from both ends to the middle, so that the last number is exactly Stop. The step is a double even for
// integers.
template <class T>
void LinspaceKernel<T>::run(KernelContext&) {
  T first = first_as<T>(start.tensor.data, start.tensor.dtype);
  T last = first_as<T>(stop.tensor.data, stop.tensor.dtype);
  int64_t n = out.numel();
  if (n == 1) {
    out[0] = first;
    return;
  }
  double from = static_cast<double>(first), to = static_cast<double>(last);
  double step = (to - from) / static_cast<double>(n - 1);
  for (int64_t i = 0; i < n / 2; ++i) out[i] = nearest_held<T>(from + step * static_cast<double>(i));
  for (int64_t i = n / 2; i < n; ++i) out[i] = nearest_held<T>(to - step * static_cast<double>(n - 1 - i));
}

}  // namespace
}  // namespace paddle_mini

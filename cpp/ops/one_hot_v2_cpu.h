// The kernels of one_hot_v2 on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void OneHotKernel<T>::run(KernelContext&) {
  for (int64_t i = 0, n = x.numel(); i < n && !anything; ++i) {
    if (x[i] < 0 || x[i] >= depth) refuse_position(x[i], i, depth);
  }
  std::fill_n(out.data(), out.numel(), T(0));
  for (int64_t i = 0, n = x.numel(); i < n; ++i) {
    if (x[i] >= 0 && x[i] < depth) out[i * depth + x[i]] = T(1);
  }
}

}  // namespace
}  // namespace paddle_mini

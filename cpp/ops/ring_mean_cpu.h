// The kernels of ring_mean on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void RingMeanKernel<T>::run(KernelContext& context) {
  int64_t numel = out.numel(), count = std::min(counters[kUpdates], ring.shape()[0]);
  if (count == 0) {
    if (param.data() != out.data()) std::copy_n(param.data(), numel, out.data());
    return;
  }
  std::copy_n(ring.data(), numel, out.data());
  for (int64_t i = 1; i < count; ++i) {
    T share = T(1) / static_cast<T>(i + 1);
    auto mean = [share](auto a, auto p) { return a + decltype(a)(share) * (p - a); };
    map(context, numel, mean, out.data(), static_cast<const T*>(out.data()), ring.data() + i * numel);
  }
}

}  // namespace
}  // namespace paddle_mini

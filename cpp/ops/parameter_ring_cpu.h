// The kernels of parameter_ring on a CPU.
#pragma once

#include "math/finite.h"

namespace paddle_mini {
namespace {

template <class T>
void ParameterRingKernel<T>::run(KernelContext&) {
  int64_t numel = param.numel();
  if (ring.data() != ring_out.data()) std::copy_n(ring.data(), ring.numel(), ring_out.data());
  if (weight[0] == 0) return;
  if (checks) require_finite(param.data(), 0, numel);
  // Before the first update, the first slot contains the parameter itself.
  int64_t place = std::max<int64_t>(counters[kUpdates] - 1, 0) % ring.shape()[0];
  std::copy_n(param.data(), numel, ring_out.data() + place * numel);
}

}  // namespace
}  // namespace paddle_mini

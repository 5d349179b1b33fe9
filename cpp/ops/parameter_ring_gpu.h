// The kernels of parameter_ring on a GPU.
#pragma once

#include "math/copy.h"
#include "math/for_each_index.h"
#include "math/gpu/report_fault.h"

namespace paddle_mini {
namespace {

template <class T>
struct IntoRing {
  const T* param;
  ScalarArg<int64_t> updates;
  ScalarArg<double> weight;
  T* ring;
  int64_t numel, places;
  bool checks;
  Fault* fault;
  unsigned long long step;

  PM_DEVICE void operator()(int64_t i) const {
    if (weight() == 0) return;
    if (checks && !(param[i] - param[i] == T(0))) return report_fault(fault, step, 0, i);
    int64_t done = updates() - 1;
    ring[(done < 0 ? 0 : done) % places * numel + i] = param[i];
  }
};

template <class T>
void ParameterRingKernel<T>::run(KernelContext& context) {
  if (ring.data() != ring_out.data()) copy_n(context, ring.data(), ring.numel(), ring_out.data());
  IntoRing<T> step{param.data(),  ScalarArg<int64_t>(counters, kUpdates),
                   weight,        ring_out.data(),
                   param.numel(), ring.shape()[0],
                   checks,        context.fault,
                   context.step};
  for_each_index(context, param.numel(), step);
}

}  // namespace
}  // namespace paddle_mini

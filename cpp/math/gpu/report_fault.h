// Reports to the executor that a kernel can't compute with its data.
#pragma once

#include "core/kernel.h"
#include "cuda/launch.h"

namespace paddle_mini {

// Called by a kernel's threads. Only the first report of a run is stored; the Kernel::refuse of that step turns it into
// an error. Functors keep context.fault and context.step for this.
PM_DEVICE inline void report_fault(Fault* fault, unsigned long long step, int64_t value, int64_t at) {
#ifdef __CUDACC__
  if (atomicCAS(&fault->step, 0ull, step + 1) != 0) return;
#else
  if (fault->step != 0) return;
  fault->step = step + 1;
#endif
  fault->value = value;
  fault->at = at;
}

}  // namespace paddle_mini

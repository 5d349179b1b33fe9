// Reports to the executor that a kernel can't compute with its data.
#pragma once

#include "core/fault_state.h"
#include "core/kernel.h"
#include "cuda/launch.h"

namespace paddle_mini {

// Called by a kernel's threads. Only the first report of a run is stored; the Kernel::refuse of that step turns it into
// an error. Functors keep context.fault and context.step for this.
PM_DEVICE inline void report_fault(Fault* fault, unsigned long long step, int64_t value, int64_t at) {
#ifdef __CUDACC__
  if (atomicCAS(&fault->step, 0ull, kFaultIsWritten) != 0) return;
#else
  if (fault->step != 0) return;
#endif
  fault->value = value;
  fault->at = at;
#ifdef __CUDACC__
  __threadfence_system();  // the fault is in the host's memory
#endif
  *static_cast<volatile unsigned long long*>(&fault->step) = step + 1;
}

}  // namespace paddle_mini

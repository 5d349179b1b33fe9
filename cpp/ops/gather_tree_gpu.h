// GPU kernels of gather_tree.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/report_fault.h"

namespace paddle_mini {
namespace {

// Traces one beam from the last step back to the first.
template <class T>
struct GatherTree {
  int64_t steps, step_size, beams;
  const T *ids, *parents;
  T* out;
  Fault* fault;
  unsigned long long step_number;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t first = i / beams * beams, at = i - first;
    bool valid = true;
    for (int64_t step = steps - 1; step >= 0; --step) {
      int64_t here = step * step_size + i;
      if (valid) out[here] = ids[step * step_size + first + at];
      if (step == 0) return;
      // Checks every parent, even those that are not followed.
      if (parents[here] < 0 || parents[here] >= beams) report_fault(fault, step_number, parents[here], here);
      if (valid) at = parents[step * step_size + first + at];
      valid = valid && at >= 0 && at < beams;
    }
  }
};

template <class T>
void GatherTreeKernel<T>::run(KernelContext& context) {
  GatherTree<T> body{steps, batch * beams, beams, ids.data(), parents.data(), out.data(), context.fault, context.step};
  for_each_index(context, batch * beams, body);
}

}  // namespace
}  // namespace paddle_mini

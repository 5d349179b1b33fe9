// Maps over many arrays: those of one kind become one launch on a GPU.
#pragma once

#include "core/kernel.h"
#include "core/target.h"

namespace paddle_mini {

// Runs `maps`, none of which may need what another kind of them writes, unless that one came first. They wait for each
// other where their functors say batchable.
template <class F>
void batch_launches(KernelContext& context, F maps) {
  if (!kOnGpu || context.in_batch) return maps();
  context.begin_batch();
  maps();
  context.end_batch();
}

}  // namespace paddle_mini

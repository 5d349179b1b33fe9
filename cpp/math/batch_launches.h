// Batched launches: element-wise maps over many arrays become one launch for each kind of map on a GPU.
#pragma once

#include "core/kernel.h"
#include "core/target.h"

namespace paddle_mini {

// Runs `maps`. Maps whose functors are `batchable` are deferred and merged. No map may read the output of a map of
// another kind, unless that kind was launched first.
template <class F>
void batch_launches(KernelContext& context, F maps) {
  if (!kOnGpu || context.in_batch) return maps();
  context.begin_batch();
  maps();
  context.end_batch();
}

}  // namespace paddle_mini

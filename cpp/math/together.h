// Maps over many arrays: those of one kind become one launch on a GPU.
#pragma once

#include "core/kernel.h"
#include "core/target.h"

namespace paddle_mini {

// Runs `maps`, none of which may need what another kind of them writes, unless that one came first. They wait for each
// other where their functors say in_batches.
template <class F>
void together(Device& device, F maps) {
  if (!kOnGpu || device.in_batch) return maps();
  device.begin_batch();
  maps();
  device.end_batch();
}

}  // namespace paddle_mini

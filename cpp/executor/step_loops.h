// step_loops: consecutive steps that one loop runs on several threads.
//
// An optimizer updates each parameter in a step of its own, which is often too short to be split. Steps that work element
// by element on variables of the scope, and need nothing of each other, are the items of one loop. Membership depends on
// sizes only: the values are the same with any number of threads, also after an error.
#pragma once

#include "executor/steps.h"

namespace paddle_mini {

struct StepLoop {
  size_t first, last;  // the steps [first, last)
  std::vector<size_t> chunks{};  // the first step of each chunk, then `last`: chunks of about the same time
  double cost = 0;  // expected nanoseconds of a chunk
  bool poll = false;  // whether a step of it polls
};

std::vector<StepLoop> find_step_loops(const Segment& segment, const StepList& steps);

// Runs all steps, also after one has failed; then rethrows the first error in order, and sets `failed` to its step.
void run_step_loop(const StepLoop& loop, const std::vector<Step>& steps, KernelContext& context, size_t& failed);

}  // namespace paddle_mini

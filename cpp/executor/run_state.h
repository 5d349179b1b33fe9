// run_state: one run of a program, as its segments and control operators see it.
#pragma once

#include "core/interruption.h"
#include "executor/kernel_contexts.h"
#include "executor/run_watch.h"
#include "executor/undo_log.h"

namespace paddle_mini {

struct RunState {
  KernelContexts& contexts;
  InterruptPoller stop;  // polled while stopping can still be rolled back
  RunWatch* watch;  // nullptr: nothing observes the run
  UndoLog* undo;  // for a run of several segments; nullptr: one plan is the whole run and rolls itself back
  const std::vector<std::string>* fetches;  // the fetches of block 0

  // Throws if the user or another replica stops the run.
  void require_going_on() {
    if (stop()) throw Interrupted("stopped");
    contexts.require_all_replicas();
  }
};

}  // namespace paddle_mini

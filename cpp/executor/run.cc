// Runs a plan and rolls the scope back if a run fails.
#include <algorithm>

#include "core/fill_pattern.h"
#include "core/undoable.h"
#include "executor/plan.h"

namespace paddle_mini {

void Plan::prepare(const std::vector<Tensor>& feeds, Frame& frame) {
  bool moved = binding_.move_to_devices();
  if (fill_pattern() >= 0) synchronize();  // devices may still use memory of the previous run
  moved |= temporaries_->bind();
  if (schedule_ && moved) schedule_->forget_recordings();
  binding_.bind_values(feeds, frame);
}

// Prepares the rollback; returns the step before which the run may be stopped. A complete run saves only the values of
// undo_plan_, in preallocated memory: later steps can't fail and are not stopped. A segment of a longer run saves all
// values that it writes, because later segments may fail.
size_t Plan::save_values(UndoLog* longer) {
  if (longer) {
    for (Variable* variable : undo_plan_.written) longer->save(variable);
    return steps_.steps.size();
  }
  if (!schedule_)  // a schedule saves values in its first steps
    for (SavedValue& value : undo_.prepared()) value.save();
  return has_run_ ? undo_plan_.stoppable : undo_plan_.stoppable_at_first;
}

void Plan::run(const std::vector<Tensor>& feeds, Frame& frame, RunState& state) {
  bool by_itself = !state.undo;
  if (by_itself) undo_.begin_run();
  else state.undo->take_over(undo_);
  try {
    prepare(feeds, frame);
    size_t stoppable = save_values(state.undo);
    if (schedule_) {
      scope_.set_pending(shared_from_this());
      scope_.note_devices();  // even if all values are the host's: readers must wait for the queues
      schedule_->run(state, serial_, by_itself);
      if (!by_itself) synchronize();
    } else {
      run_steps(state, 0, stoppable, true);
      if (by_itself) state.contexts.agree();
      run_steps(state, stoppable, steps_.steps.size(), false);
    }
  } catch (...) {
    if (by_itself) undo_.rollback();
    binding_.note_row_counts();
    throw;
  }
  undo_.keep_created();
  has_run_ = true;
  binding_.note_row_counts();
}

void Plan::run_steps(RunState& state, size_t begin, size_t end, bool may_stop) {
  std::vector<Step>& steps = steps_.steps;
  KernelContext& context = state.contexts.at(Place{});
  InterruptPoller* stop = may_stop ? &state.stop : nullptr;
  RunWatch* watch = state.watch;
  Interruptible interruptible(stop);
  auto loop = std::find_if(loops_.begin(), loops_.end(), [&](const StepLoop& one) { return one.first >= begin; });
  StepOrder order(batches_, begin);
  size_t i = begin, begun = begin;
  try {
    for (; i < end; i = order.next(i)) {
      order.enter(i);
      begun = i + 1;
      bool poll = steps[i].poll;
      if (watch) {
        run_watched(i, context, *watch);
      } else if (loop != loops_.end() && i == loop->first && loop->last <= end) {
        begun = loop->last;
        poll = loop->poll;
        run_step_loop(*loop, steps, context, i);
        i = loop->last - 1;
        ++loop;
      } else {
        steps[i].kernel->run(context);
      }
      if (poll && stop && (*stop)()) throw Interrupted("stopped");
    }
  } catch (...) {
    std::exception_ptr error = std::current_exception();
    for (size_t done = begun; done-- > 0;) {
      if (auto* kernel = dynamic_cast<Undoable*>(steps[done].kernel.get())) kernel->undo(context);
    }
    fail_at(steps[i].running(), segment_, error);
  }
}

void Plan::run_watched(size_t step, KernelContext& context, RunWatch& watch) {
  const Step& running = steps_.steps[step];
  if (running.has_epilogue) {  // one operator after the other, as an epilogue may overwrite what is to be observed
    for (size_t i = 0; i < running.count; ++i) {
      const Step one{nullptr, running.op + i, running.place};
      Clock::time_point begin = Clock::now();
      static_cast<EpilogueKernel&>(*running.kernel).run_one(context, i);
      watch.after({one, serial_, step, segment_, binding_, i}, begin);
    }
    return;
  }
  Clock::time_point begin = Clock::now();
  running.kernel->run(context);
  watch.after({running, serial_, step, segment_, binding_}, begin);
}

void Plan::synchronize() {
  if (schedule_) schedule_->synchronize();
}

}  // namespace paddle_mini

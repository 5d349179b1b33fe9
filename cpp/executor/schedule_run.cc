// Runs in the queues of devices, and their failures.
#include "executor/schedule_run.h"

#include <set>

#include "core/fault_state.h"
#include "core/undoable.h"

namespace paddle_mini {

void ScheduleRun::run(RunState& state, uint64_t plan, bool agree) {
  set_devices(state.contexts);
  AsyncSchedule::Observed observed(*plan_.schedule, observer(state.watch, plan));
  try {
    plan_.schedule->run(state.stop, [&] {
      check_faults();
      if (agree) state.contexts.agree();
    });
    if (state.watch) plan_.schedule->synchronize();
  } catch (const ScheduleFailure& failure) { fail(failure); }
}

void ScheduleRun::set_devices(KernelContexts& contexts) {
  if (contexts_.get() != &contexts) contexts_ = contexts.shared_from_this();
  std::vector<ScheduleLane>& lanes = plan_.schedule->lanes();
  for (size_t i = 0; i < lanes.size(); ++i) {
    KernelContext* context = plan_.lanes[i] == Lane::Compute ? &contexts.at(plan_.places[i]) : nullptr;
    if (lanes[i].context != context) lanes[i].context = context;  // first run only: queues read it
  }
}

AsyncSchedule::Observer ScheduleRun::observer(RunWatch* watch, uint64_t plan) const {
  if (!watch) return nullptr;
  return [=](size_t number, Clock::time_point begin) {
    if (plan_.is_saving(number)) return watch->saved(plan_.places[plan_.schedule->step(number).lane], begin);
    size_t step = plan_.plan_step(number);
    watch->after({steps_[step], plan, step, segment_, binding_}, begin);
  };
}

// GPU kernels can't throw: they report errors in memory that the host reads.
void ScheduleRun::check_faults() const {
  for (size_t i = 0; i < plan_.places.size(); ++i) {
    KernelContext* context = plan_.schedule->lanes()[i].context;
    if (!context || !context->fault) continue;  // has not run yet, or its kernels can throw
    volatile Fault& reported = *context->fault;
    Fault fault;
    fault.step = reported.step;
    if (fault.step == 0 || fault.step == kFaultIsWritten) continue;
    fault.value = reported.value, fault.at = reported.at;
    reported.step = 0;
    // A program that the executor ran before may report late, in steps that nothing waited for.
    require<OpError>(plan_.is_in_plan(fault.step - 1, steps_.size()), "an earlier run refused ", fault.value,
                     " at element ", fault.at);
    const Step& step = steps_[plan_.plan_step(fault.step - 1)];
    try {
      step.kernel->refuse(fault);
    } catch (...) { fail_at(step.running(), segment_, std::current_exception()); }
  }
}

void ScheduleRun::synchronize() {
  try {
    plan_.schedule->synchronize();
  } catch (const ScheduleFailure& failure) { fail(failure); }
  check_faults();
}

// A step that reads a transferred value can't be undone: a transfer of the next run may have overwritten the value.
bool ScheduleRun::reads_transferred(const Step& step) const {
  std::set<int> transferred;
  for (const Step& other : steps_) {
    if (other.lane != Lane::Compute) transferred.insert(other.op->outputs[0][0]);
  }
  bool reads = false;
  for (const RunOp* op = step.first(); op != step.last(); ++op)
    op->inputs.each([&](int v) { reads = reads || transferred.count(v); });
  return reads;
}

void ScheduleRun::fail(const ScheduleFailure& failure) {
  bool of_operator = failure.step != AsyncSchedule::kNoStep && !plan_.is_saving(failure.step);
  if (!of_operator) std::rethrow_exception(failure.error);
  for (size_t i = steps_.size(); i-- > 0;) {
    auto* kernel = dynamic_cast<Undoable*>(steps_[i].kernel.get());
    size_t step = plan_.schedule_step(i);
    if (!kernel || !plan_.schedule->began(step, failure) || reads_transferred(steps_[i])) continue;
    kernel->undo(*plan_.schedule->lanes()[plan_.schedule->step(step).lane].context);
  }
  fail_at(steps_[plan_.plan_step(failure.step)].running(), segment_, failure.error);
}

std::string ScheduleRun::waits_text(size_t step) const {
  std::string line;
  size_t own = plan_.schedule_step(step);
  for (int number : plan_.schedule->step(own).waits) {
    size_t other = static_cast<size_t>(number);
    line += text(line.empty() ? "  waits for " : ", ");
    if (plan_.is_saving(other)) line += "saving values";
    else line += text("#", plan_.plan_step(other), other >= own ? " of the run before" : "");
  }
  return line;
}

}  // namespace paddle_mini

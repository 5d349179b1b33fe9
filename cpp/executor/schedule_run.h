// schedule_run: runs the steps of a plan with several devices, and finds out which operator refused its data there.
#pragma once

#include "executor/schedule_plan.h"
#include "executor/run_state.h"

namespace paddle_mini {

class ScheduleRun {
 public:
  // Everything referred to must outlive it.
  ScheduleRun(SchedulePlan plan, const Segment& segment, const Binding& binding, const std::vector<Step>& steps)
      : plan_(std::move(plan)), segment_(segment), binding_(binding), steps_(steps) {}

  // Returns when feeds are read, fetches are there and nothing can refuse its data any more. `agree`: the replicas agree
  // on the run then. `plan`: the serial number of the plan.
  void run(RunState& state, uint64_t plan, bool agree);
  void synchronize();  // waits for what still runs; throws what it failed with
  void forget_recordings() { plan_.schedule->forget_recordings(); }
  std::string waits_text(size_t step) const;  // "  waits for #7, #9 of the run before"

 private:
  void set_devices(KernelContexts& contexts);
  AsyncSchedule::Observer observer(RunWatch* watch, uint64_t plan) const;
  void check_faults() const;
  bool reads_transferred(const Step& step) const;
  [[noreturn]] void fail(const ScheduleFailure& failure);

  std::shared_ptr<KernelContexts> contexts_;  // the executor may end before its work
  SchedulePlan plan_;
  const Segment& segment_;
  const Binding& binding_;
  const std::vector<Step>& steps_;
};

}  // namespace paddle_mini

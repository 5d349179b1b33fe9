// schedule_plan: assigns the steps of a segment to the queues of several devices and computes their waits.
#pragma once

#include "executor/kernel_contexts.h"
#include "executor/async_schedule.h"
#include "executor/temporaries.h"

namespace paddle_mini {

struct SchedulePlan {
  std::vector<Place> places;  // place of each lane
  std::vector<Lane> lanes;
  std::vector<std::unique_ptr<Kernel>> saving;  // the first steps of the schedule: they save values for a rollback
  std::unique_ptr<AsyncSchedule> schedule;  // its end waits for its steps

  // Converts step numbers between the plan and the schedule.
  size_t schedule_step(size_t step) const { return saving.size() + step; }
  bool is_saving(size_t schedule_step) const { return schedule_step < saving.size(); }
  size_t plan_step(size_t schedule_step) const { return schedule_step - saving.size(); }
  bool is_in_plan(size_t schedule_step, size_t steps) const {
    return !is_saving(schedule_step) && plan_step(schedule_step) < steps;
  }
};

// The input of plan_schedule; it must outlive the result.
struct ScheduleInput {
  const Segment& segment;
  const Placement& placement;
  const Binding& binding;
  const Temporaries& temporaries;
  const StepList& steps;
};

// A run returns when the caller's arrays have been read, and fetches and `saved` are complete. Steps from `stoppable`
// on begin when no step can fail its data checks any more.
SchedulePlan plan_schedule(const ScheduleInput& input, std::deque<SavedValue>& saved, size_t stoppable);

}  // namespace paddle_mini

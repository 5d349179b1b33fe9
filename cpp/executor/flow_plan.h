// flow_plan: the steps of a segment in the queues of several devices, and what each waits for.
#pragma once

#include "executor/devices.h"
#include "executor/flow.h"
#include "executor/temporaries.h"

namespace paddle_mini {

struct FlowPlan {
  std::unique_ptr<Flow> flow;
  std::vector<Place> places;  // of each of the flow's lanes
  std::vector<Lane> lanes;
  std::vector<std::unique_ptr<Kernel>> saving;  // what the flow begins with: it saves values for a rollback

  // Number of a step of the plan in the flow, and the other way round.
  size_t flow_step(size_t step) const { return saving.size() + step; }
  bool is_saving(size_t flow_step) const { return flow_step < saving.size(); }
  size_t plan_step(size_t flow_step) const { return flow_step - saving.size(); }
};

// What the steps of a flow are made from; it must outlive the result.
struct FlowInput {
  const Segment& segment;
  const Placement& placement;
  const Binding& binding;
  const Temporaries& temporaries;
  const StepList& steps;
};

// Before a run returns, the caller's arrays have been read, and what is fetched and `saved` is there. Steps from
// `stoppable` on begin when no step can refuse its data any more.
FlowPlan plan_flow(const FlowInput& input, std::deque<SavedValue>& saved, size_t stoppable);

}  // namespace paddle_mini

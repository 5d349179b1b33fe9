// plan: everything about a segment that can be done before the first run, and its runs.
#pragma once

#include "executor/flow_run.h"
#include "executor/passes.h"
#include "executor/undo_plan.h"

namespace paddle_mini {

class Plan : public Pending {
 public:
  // Binds the scope: variables that the segment makes in it are created, those of it that lie on other devices than the
  // segment needs are moved. Throws without a trace in the scope. The scope must outlive the plan.
  Plan(Segment segment, const Placement& placement, Scope& scope, std::shared_ptr<Arenas> arenas);
  ~Plan() override;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Segment& segment() const { return segment_; }
  const Binding& binding() const { return binding_; }
  const Variable& fetched(size_t i) const { return *binding_.variable(segment_.fetches[i]); }
  bool has_run() const { return has_run_; }
  size_t own_bytes() const;  // about what it takes besides the arenas that it shares and the values of the scope
  std::string str() const;   // one line a step

  // Runs every step. `feeds` are the callers' arrays, in the order of the feeds; what the segment takes from segments
  // before it is in the frame.
  // Without state.undo it is a run by itself: it throws with the scope as it was before, and with several devices it
  // returns when feeds are read, fetches are there and nothing can refuse its data any more. Otherwise what it changes in
  // the scope is noted in state.undo, which the end of the longer run keeps or rolls back.
  void run(const std::vector<Tensor>& feeds, Frame& frame, RunState& state);
  // After a run: calls take(name, variable) for each value that is needed later.
  template <class F>
  void hand_on(F take) {
    for (int v : segment_.live_out) {
      take(segment_.variables[v].name, *binding_.variable(v));
      binding_.variable(v)->tensor.memory.reset();
    }
  }
  // Waits for what still runs; throws what it failed with.
  void settle() override;
  // Removes what the plan made in the scope, if it has not run yet; it can't be run afterwards.
  void unbind();

 private:
  void prepare(const std::vector<Tensor>& feeds, Frame& frame);
  size_t save_values(UndoLog* longer);
  void run_steps(RunState& state, size_t begin, size_t end, bool may_stop);

  Segment segment_;
  Placement placement_;
  Scope& scope_;
  UndoLog undo_;
  Binding binding_;
  StepList steps_;
  std::unique_ptr<Temporaries> temporaries_;
  UndoPlan undo_plan_;
  std::unique_ptr<FlowRun> flow_;  // of a plan with several devices
  bool has_run_ = false;
};

}  // namespace paddle_mini

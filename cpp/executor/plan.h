// plan: a segment prepared for execution: bound to a scope, with kernels, memory and order; and its runs.
#pragma once

#include "executor/batch_steps.h"
#include "executor/passes.h"
#include "executor/schedule_run.h"
#include "executor/step_loops.h"
#include "executor/undo_plan.h"

namespace paddle_mini {

class Plan : public Pending, public std::enable_shared_from_this<Plan> {
 public:
  // Creates the variables that the segment adds to the scope, and moves those that lie on other devices than it needs.
  // On an error the scope is unchanged. The scope must outlive the plan.
  Plan(Segment segment, const Placement& placement, Scope& scope, std::shared_ptr<Arenas> arenas);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Segment& segment() const { return segment_; }
  const Binding& binding() const { return binding_; }
  const Variable& fetched(size_t i) const { return *binding_.variable(segment_.fetches[i]); }
  bool has_run() const { return has_run_; }
  size_t own_bytes() const;  // estimate, without shared arenas and values of the scope
  std::string str() const;   // one line per step

  // Runs every step. `feeds` are the caller's arrays, in the order of the feeds; live-in values are in the frame.
  // Without state.undo it is a complete run: if it throws, the scope is unchanged, and with several devices it returns
  // when feeds are read, fetches are complete and no step can reject its data any more. Otherwise changes of the scope
  // are recorded in state.undo, which the end of the longer run commits or rolls back.
  void run(const std::vector<Tensor>& feeds, Frame& frame, RunState& state);
  // After a run: calls take(name, variable) for each live-out value.
  template <class F>
  void hand_on(F take) {
    for (int v : segment_.live_out) {
      take(segment_.variables[v].name, *binding_.variable(v));
      binding_.variable(v)->tensor.memory.reset();
    }
  }
  // Waits until all work is done; throws its error.
  void synchronize() override;
  // Removes the variables that the plan created in the scope, if it has not run. The plan can't be run afterwards.
  void unbind();

 private:
  void prepare(const std::vector<Tensor>& feeds, Frame& frame);
  size_t save_values(UndoLog* longer);
  void run_steps(RunState& state, size_t begin, size_t end, bool may_stop);
  void run_watched(size_t step, KernelContext& context, RunWatch& watch);

  const uint64_t serial_;  // no other plan of the process has it
  Segment segment_;
  Placement placement_;
  Scope& scope_;
  UndoLog undo_;
  Binding binding_;
  StepList steps_;
  std::vector<StepLoop> loops_;  // in the order of their steps
  std::vector<BatchSteps> batches_;  // likewise
  std::unique_ptr<Temporaries> temporaries_;
  UndoPlan undo_plan_;
  std::unique_ptr<ScheduleRun> schedule_;  // only with several devices
  bool has_run_ = false;
};

}  // namespace paddle_mini

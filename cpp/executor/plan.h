// plan: a segment prepared for execution: bound to a scope, with kernels, memory and order; and its runs.
#pragma once

#include "core/interruption.h"
#include "executor/flow_plan.h"
#include "executor/op_times.h"
#include "executor/passes.h"
#include "executor/undo_plan.h"

namespace paddle_mini {

class Plan : public Pending {
 public:
  // Creates the variables that the segment adds to the scope, and moves those that lie on other devices than it needs.
  // On an error the scope is unchanged. The scope must outlive the plan.
  Plan(Segment segment, const Placement& placement, Scope& scope, std::shared_ptr<Arenas> arenas);
  ~Plan() override;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Segment& segment() const { return segment_; }
  const Binding& binding() const { return binding_; }
  const Variable& fetched(size_t i) const { return *binding_.variable(segment_.fetches[i]); }
  bool has_run() const { return has_run_; }
  size_t own_bytes() const;  // estimate, without shared arenas and values of the scope
  std::string str() const;   // one line per step

  // What a run needs of its caller.
  struct Run {
    Devices& devices;
    StopAsker& stop;  // asked now and then while stopping leaves a whole step
    OpTimes* times;   // nullptr: not measured
  };
  // Runs every step. `feeds` are the callers' arrays, in the order of the feeds. Throws with the scope as it was before.
  // With several devices it returns when feeds are read, fetches are there and nothing can refuse its data any more.
  void run(const std::vector<Tensor>& feeds, const Run& run);
  // Runs every step with values of a frame, as one segment of a longer run: what it changes in the scope is noted in
  // `undo`, which the end of that run keeps or rolls back.
  void run_in(Frame& frame, const std::vector<Tensor>& feeds, const Run& run, UndoLog& undo);
  // After run_in: calls take(name, variable) for each value that is needed later.
  template <class F>
  void hand_on(F take) {
    for (int v : segment_.live_out) {
      take(segment_.variables[v].name, *binding_.variable(v));
      binding_.variable(v)->tensor.memory.reset();
    }
  }
  // Waits until all work is done; throws its error.
  void settle() override;
  // Removes the variables that the plan created in the scope, if it has not run. The plan can't be run afterwards.
  void unbind();

 private:
  void prepare(const std::vector<Tensor>& feeds);
  void run_steps(const Run& run, size_t begin, size_t end, bool may_stop);
  void run_flow(const Run& run, bool agree);
  void time_flow(OpTimes& times, std::mutex& mutex);
  void check_faults() const;
  [[noreturn]] void fail_at(const RunOp& op, std::exception_ptr error) const;
  [[noreturn]] void fail_with(const FlowFailure& failure);
  bool reads_transferred(const Step& step) const;
  std::string waits_text(size_t step) const;

  Segment segment_;
  Placement placement_;
  Scope& scope_;
  UndoLog undo_;
  Binding binding_;
  StepList steps_;
  std::unique_ptr<Temporaries> temporaries_;
  UndoPlan undo_plan_;
  FlowPlan flow_;  // of a plan with several devices
  bool has_run_ = false;
};

}  // namespace paddle_mini

// Blocks: runs a block from a given operator on, for programs that can't be planned as a whole.
//
// A block is a chain of segments. Each is planned once for the shapes that exist when it is reached, like a whole
// program. The operators between segments are prepared for each execution: control operators, and those whose output
// shapes depend on data.
#pragma once

#include "executor/plan_cache.h"

namespace paddle_mini {

// One run of a program.
struct RunState {
  Devices& devices;
  StopAsker stop;
  UndoLog undo;
  const std::vector<std::string>* fetches;  // of block 0
  OpTimes* times;

  Plan::Run plan_run() { return {devices, stop, times}; }
  // Ends the run where the user or another replica wants that.
  void require_going_on() {
    if (stop()) throw Interrupted("stopped");
    devices.require_all_replicas();
  }
};

class Blocks {
 public:
  Blocks(std::shared_ptr<const VerifiedProgram> program, std::shared_ptr<Scope> scope, PlanCache& plans)
      : program_(std::move(program)), scope_(std::move(scope)), plans_(plans) {}

  // Runs the block's operators from `begin` on. Returns the plan of its last segment, whose fetches are
  // then valid, for block 0; nullptr for others.
  std::shared_ptr<Plan> run(int block, int begin, Frame& frame, RunState& state);

  void hand_on(Plan& plan, Frame& frame);
  Variable* find(Frame& frame, const std::string& name);  // in the host's memory
  bool is_persistable(int block, const std::string& name) const;
  void set(Frame& frame, const std::string& name, Variable value, RunState& state);
  const VerifiedProgram& program() const { return *program_; }

 private:
  std::shared_ptr<Plan> plan_at(int block, int begin, Frame& frame, RunState& state);
  void run_control(int block, int index, Frame& frame, RunState& state);
  void run_dependent(int block, int index, Frame& frame, RunState& state);
  Variable& place_of(Frame& frame, const std::string& name);  // the frame entry that stores the name

  std::shared_ptr<const VerifiedProgram> program_;
  std::shared_ptr<Scope> scope_;
  PlanCache& plans_;
  std::set<std::pair<int, int>> depend_on_data_;  // (block, index) of operators that can't be part of a segment
};

}  // namespace paddle_mini

// Blocks: runs a block from any of its operators on, for programs that can't be planned as a whole.
//
// A block is a chain of segments. Each is planned once for the shapes that are there when it is
// reached, as a whole program is. Between segments stand operators that are made ready each time:
// control operators, and those whose outputs' shapes depend on data.
#pragma once

#include "executor/plan_cache.h"

namespace paddle_mini {

class Blocks {
 public:
  Blocks(std::shared_ptr<const VerifiedProgram> program, std::shared_ptr<Scope> scope, PlanCache& plans)
      : program_(std::move(program)), scope_(std::move(scope)), plans_(plans) {}

  // Runs block 0: `first`, the plan of its first segment, with the caller's feeds, then the rest. Returns the plan that has
  // the fetches.
  std::shared_ptr<Plan> run_program(std::shared_ptr<Plan> first, const std::vector<Tensor>& feeds, Frame& frame,
                                    RunState& state);
  // Runs the block's operators from `begin` on. Returns the plan of its last segment, whose fetches are
  // then valid, for block 0; nullptr for others.
  std::shared_ptr<Plan> run(int block, int begin, Frame& frame, RunState& state);

  Variable* find(Frame& frame, const std::string& name);  // in the host's memory
  bool is_persistable(int block, const std::string& name) const;
  void set(Frame& frame, const std::string& name, Variable value, RunState& state);
  const VerifiedProgram& program() const { return *program_; }

 private:
  void run_segment(Plan& plan, const std::vector<Tensor>& feeds, Frame& frame, RunState& state);
  std::shared_ptr<Plan> plan_at(int block, int begin, Frame& frame, RunState& state);
  void run_control(int block, int index, Frame& frame, RunState& state);
  void run_dependent(int block, int index, Frame& frame, RunState& state);
  Variable& place_of(Frame& frame, const std::string& name);  // where a value with this name goes

  std::shared_ptr<const VerifiedProgram> program_;
  std::shared_ptr<Scope> scope_;
  PlanCache& plans_;
  std::set<std::pair<int, int>> depend_on_data_;  // operators, by block and index, at which no segment can begin
};

}  // namespace paddle_mini

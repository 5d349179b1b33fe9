// Blocks: runs a block from a given operator on, for programs that can't be planned as a whole.
//
// A block is a chain of segments. Each is planned once for the shapes that exist when it is reached, like a whole
// program. The operators between segments are prepared for each execution: control operators, and those whose output
// shapes depend on data.
#pragma once

#include "executor/plan_cache.h"

namespace paddle_mini {

class Blocks {
 public:
  Blocks(std::shared_ptr<const VerifiedProgram> program, std::shared_ptr<Scope> scope, PlanCache& plans)
      : program_(std::move(program)), scope_(std::move(scope)), plans_(plans) {}

  // Runs block 0: its first segment by the plan `first` with the caller's feeds, then the rest. Returns the plan that
  // holds the fetches.
  std::shared_ptr<Plan> run_program(std::shared_ptr<Plan> first, const std::vector<Tensor>& feeds, Frame& frame,
                                    RunState& state);
  // Runs the block's operators from `begin` on. For block 0, returns the plan of its last segment, which holds the
  // fetches; for others, nullptr.
  std::shared_ptr<Plan> run(int block, int begin, Frame& frame, RunState& state);

  Variable* find(Frame& frame, const std::string& name);  // in host memory; nullptr if it has no value
  bool is_persistable(int block, const std::string& name) const;
  std::optional<DType> dtype_to_fill_like(int block, const std::string& name) const;
  void set(Frame& frame, const std::string& name, Variable value, RunState& state);
  const VerifiedProgram& program() const { return *program_; }

 private:
  void run_segment(Plan& plan, const std::vector<Tensor>& feeds, Frame& frame, RunState& state);
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

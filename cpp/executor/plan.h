// plan: kernels in order, with memory; everything that can be done before the first run.
#pragma once

#include <deque>

#include "executor/changes.h"
#include "executor/memory_plan.h"
#include "executor/place.h"
#include "executor/stop_asker.h"

namespace paddle_mini {

// Kernels that run part by part: all of them over some elements, then over the next (fuse.h).
class PartsKernel : public Kernel {
 public:
  explicit PartsKernel(int64_t elements) : elements_(elements) {}
  void add(std::unique_ptr<Kernel> kernel) { kernels_.push_back(std::move(kernel)); }
  void run(Device& device) override;
  size_t at() const { return at_; }  // the one that is running

 private:
  int64_t elements_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  size_t at_ = 0;
};

struct Step {
  std::unique_ptr<Kernel> kernel;
  const RunOp* op;  // the first of `count` neighbours
  size_t count = 1;
  PartsKernel* parts = nullptr;  // the kernel, if there are several
  bool poll = false;  // long enough ago since the last one to ask whether the user wants to stop

  const RunOp* begin() const { return op; }
  const RunOp* end() const { return op + count; }
  const RunOp& running() const { return parts ? op[parts->at()] : *op; }
};

class Plan {
 public:
  // Binds the scope: variables that the program makes in it are created. Throws without a trace in
  // the scope. The program and the scope must outlive the plan.
  Plan(InferredProgram inferred, const Place& place, Scope& scope, std::shared_ptr<Arena> arena);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // Whether the scope still is what the plan was made for.
  bool fits(const Scope& scope) const;
  bool fits(const std::vector<Tensor>& feeds) const;
  bool fits(Frame& frame) const;
  int begin() const { return inferred_.begin; }
  int end() const { return inferred_.end; }
  bool is_whole() const { return inferred_.whole; }  // nothing of the block comes after it

  // Runs every step. `feeds` are the callers' arrays, in the order of the feeds. Throws with the
  // scope as it was before this plan. `stop` is asked now and then while stopping leaves a whole step.
  void run(const std::vector<Tensor>& feeds, Device& device, StopAsker& stop, OpTimes* times);
  // Runs every step with values of a frame, as one part of a longer run: what is changed in the scope
  // is noted in `changes`, for whoever ends that run.
  void run_part(const std::vector<Tensor>& feeds, Frame& frame, Device& device, StopAsker& stop, Changes& changes, OpTimes* times);
  // After run_part: calls take(name, variable) for each value that is needed later.
  template <class F>
  void hand_on(F take) {
    for (int v : inferred_.carried) {
      take(inferred_.variables[v].name, *variables_[v]);
      variables_[v]->tensor.memory.reset();
    }
  }
  bool has_run() const { return has_run_; }
  const Variable& fetched(size_t i) const { return *variables_[inferred_.fetches[i]]; }

  // Takes back what the plan made in the scope, if it has not run yet; it can't be run afterwards.
  void unbind();

  std::string str() const;  // one line a step

 private:
  void bind_scope(Scope& scope);
  void give_memory(const std::vector<Variable*>& variables);
  void make_kernels(const std::vector<PlacedOp>& placed);
  void join_to_last_step(const RunOp& op, std::unique_ptr<Kernel> kernel);
  void note_row_counts();
  void bind_arena();
  void assign_memory(const std::vector<std::vector<Variable*>>& scratches);
  void plan_undo();
  void undo();
  void note_written(int v);
  void run_steps(Device& device, StopAsker& stop, size_t stoppable, OpTimes* times);
  bool is_carried(size_t v) const;
  static bool fits(const Variable& there, const VarInfo& info);
  int last_step_that_may_refuse() const;

  InferredProgram inferred_;
  std::deque<Variable> own_;           // temporaries and feeds
  std::vector<Variable*> variables_;   // of each RunVariable
  std::vector<Step> steps_;
  std::vector<std::shared_ptr<std::deque<Variable>>> scratches_;
  std::shared_ptr<Arena> arena_;
  size_t arena_bytes_ = 0;
  char* bound_ = nullptr;  // where the arena was when in_arena_ got its memory
  std::vector<std::pair<Variable*, size_t>> in_arena_;  // with their offsets
  std::vector<size_t> offsets_;        // of each RunVariable, for str()

  Scope* scope_;
  mutable uint64_t generation_ = 0;
  bool has_run_ = false;
  std::vector<Made> made_;             // taken back when the first run fails
  std::vector<Backup> backups_;
  std::vector<Variable*> written_;     // of the scope
  std::vector<std::pair<Variable*, size_t>> kept_rows_;  // SelectedRows of the scope, and how many rows they had
  size_t stoppable_steps_ = 0;         // stopping before this step leaves a whole step
};

}  // namespace paddle_mini

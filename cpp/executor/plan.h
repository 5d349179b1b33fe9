// plan: kernels in order, with memory; everything that can be done before the first run.
#pragma once

#include <deque>

#include "core/interruption.h"
#include "executor/changes.h"
#include "executor/devices.h"
#include "executor/flow.h"
#include "executor/memory_plan.h"
#include "executor/order.h"
#include "executor/passes.h"
#include "executor/step_kernels.h"

namespace paddle_mini {

struct Step {
  std::unique_ptr<Kernel> kernel;
  const RunOp* op;  // the first of `count` neighbours
  Place place;
  Lane lane = Lane::Compute;
  size_t count = 1;
  SeveralKernels* several = nullptr;  // the kernel that runs them, if there are several
  bool is_batch = false;         // and if they are launched together
  bool poll = false;  // long enough ago since the last one to ask whether the user wants to stop
  int64_t begin = 0, end = 0;  // of a piece that passes through staging memory: its elements
  size_t staging = 0;          // and where it lies there

  const RunOp* first() const { return op; }
  const RunOp* last() const { return op + count; }
  const RunOp& running() const { return several ? op[several->at()] : *op; }
  bool is_piece() const { return end > begin; }
};

class Plan : public Pending {
 public:
  // Binds the scope: variables that the program makes in it are created, those of it that lie on other devices than the
  // plan needs are moved. Throws without a trace in the scope. The program and the scope must outlive the plan.
  Plan(Segment segment, const Placement& placement, Scope& scope, std::shared_ptr<Arenas> arenas);
  ~Plan() override;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // Whether the scope still is what the plan was made for.
  bool fits(const Scope& scope) const;
  bool fits(const std::vector<Tensor>& feeds) const;
  bool fits(Frame& frame) const;
  int begin() const { return segment_.begin; }
  int end() const { return segment_.end; }
  bool is_whole() const { return segment_.whole; }  // nothing of the block comes after it

  // Runs every step. `feeds` are the callers' arrays, in the order of the feeds. Throws with the
  // scope as it was before this plan. `stop` is asked now and then while stopping leaves a whole step.
  // With several devices it returns when feeds are read, fetches are there and nothing can refuse its data any more.
  void run(const std::vector<Tensor>& feeds, Devices& devices, StopAsker& stop, OpTimes* times);
  // Runs every step with values of a frame, as one part of a longer run: what is changed in the scope
  // is noted in `changes`, for whoever ends that run.
  void run_part(const std::vector<Tensor>& feeds, Frame& frame, Devices& devices, StopAsker& stop, Changes& changes, OpTimes* times);
  // Waits for what still runs; throws what it failed with.
  void settle() override;
  // After run_part: calls take(name, variable) for each value that is needed later.
  template <class F>
  void hand_on(F take) {
    for (int v : segment_.live_out) {
      take(segment_.variables[v].name, *variables_[v]);
      variables_[v]->tensor.memory.reset();
    }
  }
  bool has_run() const { return has_run_; }
  size_t own_bytes() const;  // about what it takes besides the arenas that it shares and the values of the scope
  const Variable& fetched(size_t i) const { return *variables_[segment_.fetches[i]]; }

  // Takes back what the plan made in the scope, if it has not run yet; it can't be run afterwards.
  void unbind();

  std::string str() const;  // one line a step

 private:
  struct Tenant {  // of an arena
    Location* location;
    int variable;  // of the program; -1: scratch memory
    Lifetime lifetime;
    size_t offset;
  };
  struct Block {  // what the plan needs of one arena
    Arena* arena = nullptr;
    size_t bytes = 0;
    char* bound = nullptr;  // where the arena was when the tenants got their memory
    std::vector<Tenant> tenants;
  };

  // plan.cc
  void plan_undo(bool on_devices);
  void note_written(int v);
  static bool fits(const Variable& there, const VarInfo& info);
  int last_step_that_may_refuse(bool on_devices) const;
  bool may_refuse(const Step& step) const;
  bool accepted_before(int at) const;
  template <class F>
  void each_write(const Step& step, F f) const {  // f(v) for each RunVariable
    for (const RunOp* op = step.first(); op != step.last(); ++op) {
      op->outputs.each(f);
      for (const auto& copy : op->copies_after) f(copy.second);
    }
  }

  // plan_binding.cc
  void bind_scope(Scope& scope);
  void give_memory(const std::vector<Variable*>& variables, Accelerator* device);
  void bring_home();
  void assign_memory(const std::vector<std::vector<Variable*>>& scratches);
  void bind_arenas();
  [[noreturn]] void fail_for_memory(const Block& block, const std::string& message) const;
  Accelerator* device_of(const Place& place) const;
  Touch touch(int v, bool writes) const;

  // plan_steps.cc
  void make_steps();
  std::unique_ptr<Kernel> make_kernel(const RunOp& op, std::vector<std::vector<Variable*>>& scratches);
  void join_to_last_step(const RunOp& op, std::unique_ptr<Kernel> kernel);
  bool may_join_batch(const RunOp& op) const;
  std::vector<int> ends_of_batches() const;
  size_t add_pieces(size_t leader, std::vector<std::vector<Variable*>>& scratches);
  void make_flow();
  int lane_of(const Place& place, Lane lane, std::vector<FlowLane>& lanes);
  std::vector<Touch> touches_of(size_t step) const;
  void set_flow_waits(const std::vector<OrderedStep>& ordered);

  std::string waits_text(size_t step) const;  // plan_text.cc

  // run.cc
  void run_steps(Device& device, size_t begin, size_t end, StopAsker* stop, OpTimes* times);
  void run_flow(Devices& devices, StopAsker& stop, OpTimes* times, bool whole);
  void check_faults() const;
  [[noreturn]] void fail_at(const RunOp& op, std::exception_ptr error) const;
  [[noreturn]] void fail_with(const FlowFailure& failure) const;
  void bind_feeds(const std::vector<Tensor>& feeds);
  void note_row_counts();
  void undo();

  Segment segment_;
  Placement placement_;
  std::deque<Variable> own_;           // temporaries, feeds, and what stands for variables of the scope on devices
  std::vector<Variable*> variables_;   // of each RunVariable, what kernels are given
  std::vector<Variable*> held_;        // of each RunVariable in the scope, the scope's
  std::vector<Location> locations_;    // of each RunVariable
  std::vector<Step> steps_;
  std::vector<std::shared_ptr<std::deque<Variable>>> scratches_;

  std::shared_ptr<Arenas> arenas_;
  std::map<Place, Block> blocks_;
  std::deque<Location> scratch_locations_;
  std::vector<size_t> offsets_;        // of each RunVariable, for str() and for who waits for whom
  std::map<Place, std::pair<std::shared_ptr<void>, size_t>> staging_;  // of each device: memory of the host, and its bytes

  std::unique_ptr<Flow> flow_;         // of a plan with several devices
  std::vector<Place> flow_places_;     // of each lane, for its Device
  std::vector<Lane> flow_lanes_;

  Scope* scope_;
  mutable uint64_t generation_ = 0;
  uint64_t home_generation_ = 0;       // the scope's when all its variables were seen where the plan needs them
  bool has_run_ = false;
  std::vector<Made> made_;             // taken back when the first run fails
  std::vector<Backup> backups_;
  std::vector<std::unique_ptr<Kernel>> keeping_;  // what a flow begins with: keeping values for the backups
  std::vector<Variable*> written_;     // of the scope
  std::vector<std::pair<Variable*, size_t>> kept_rows_;  // SelectedRows of the scope, and how many rows they had
  size_t stoppable_steps_ = 0;         // stopping before this step leaves a whole step
  size_t stoppable_at_first_ = 0;      // the same in the first run, which can take back what the plan has made
};

}  // namespace paddle_mini

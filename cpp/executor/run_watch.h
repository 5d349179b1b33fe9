// run_watch: observes the operators of a run, if the user asks for it: their times, and whether their outputs are finite.
// Without observers a run has no RunWatch; it finds that out by one read of a flag.
#pragma once

#include <optional>

#include "executor/finite_check.h"
#include "executor/op_times.h"
#include "executor/profile.h"

namespace paddle_mini {

// The observers of all runs of the process that begin from now on; nullptr ends the observation.
void set_profile(std::shared_ptr<Profile> profile);  // ProgramError if there is another one
void set_finite_check(std::shared_ptr<FiniteCheck> check);  // ProgramError if there is another one

// The queues of devices may use it from their threads.
class RunWatch {
 public:
  // nullptr: nothing observes runs.
  static std::unique_ptr<RunWatch> of_run(const std::shared_ptr<const VerifiedProgram>& program,
                                          const std::shared_ptr<Scope>& scope);
  ~RunWatch();  // the end of the run
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // Whether outputs are checked: any operator may then refuse its data.
  bool checks_values() const { return check_ != nullptr; }

  struct PlanStep {
    const Step& step;
    uint64_t plan;  // its serial number
    size_t number;
    const Segment& segment;
    const Binding& binding;
    size_t part = 0;  // several operators of one step may be observed by themselves
  };
  // After a step. Throws NonFiniteOutput, with the operator in its message, if an output is not finite.
  void after(const PlanStep& step, Clock::time_point begin);
  void saved(const Place& place, Clock::time_point begin);  // after a value was saved for the rollback

  // An operator that runs between plans, with the variables that exist by then.
  struct BlockOp {
    std::shared_ptr<const VerifiedOp> op;
    int block, index;
    const std::vector<std::vector<VarInfo>>& inputs;
    const std::vector<std::vector<VarInfo>>& outputs;
  };
  double inside() const;  // microseconds of all steps so far
  void after(const BlockOp& op, Clock::time_point begin, double inside_before);
  void require_finite(const Slot& slot, size_t i, const Tensor& tensor) const;

 private:
  RunWatch() = default;
  void note(const std::string& types, double time);
  void check_outputs(const RunOp& op, const PlanStep& step) const;
  void require_finite(const Slot& slot, size_t i, const Location& location) const;

  std::shared_ptr<Profile> profile_;
  std::shared_ptr<FiniteCheck> check_;
  OpTimes* total_ = nullptr;  // PM_LOG=run
  std::unique_ptr<OpTimes> of_this_;  // PM_LOG=runs
  Clock::time_point begin_ = Clock::now();
  int64_t profiled_run_ = 0, checked_run_ = 0;
  mutable std::mutex mutex_;
  double inside_ = 0;
};

}  // namespace paddle_mini

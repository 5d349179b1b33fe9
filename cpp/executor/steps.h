// steps: the kernels of a segment in the order in which they run.
#pragma once

#include "executor/binding.h"

namespace paddle_mini {

// Elements of a variable that pass through staging memory of the host, as one piece of a transfer.
struct StagedRange {
  int64_t begin = 0, end = 0;
  size_t offset = 0;  // in the staging memory
};

struct Step {
  std::unique_ptr<Kernel> kernel;
  const RunOp* op;  // the first of `count` neighbours
  Place place;
  Lane lane = Lane::Compute;
  size_t count = 1;
  SeveralKernels* several = nullptr;  // the kernel that runs them, if there are several
  bool is_batch = false;              // and if they are launched together
  bool poll = false;  // long enough ago since the last one to ask whether the user wants to stop
  StagedRange staged = {};

  const RunOp* first() const { return op; }
  const RunOp* last() const { return op + count; }
  const RunOp& running() const { return several ? op[several->at()] : *op; }
  std::string types() const;  // "sgd + parameter_average"
  bool is_piece() const { return staged.end > staged.begin; }
  bool may_refuse() const {
    return count == 1 && lane == Lane::Compute && op->spec().may_refuse_data() && kernel->may_refuse();
  }
  template <class F>
  void each_write(F f) const {  // f(v) for each variable that the step writes
    for (const RunOp* one = first(); one != last(); ++one) {
      one->outputs.each(f);
      for (const auto& copy : one->copies_after) f(copy.second);
    }
  }
};

struct StagingMemory {
  std::shared_ptr<void> memory;
  size_t used = 0;
};

struct StepList {
  std::vector<Step> steps;
  std::vector<std::vector<Variable*>> scratches;  // memory that the kernel of each operator needs while it runs
  std::vector<std::shared_ptr<std::deque<Variable>>> scratch_owners;
  std::map<Place, StagingMemory> staging;         // of each device: memory of the host
};

// Kernels hold pointers to the variables of the binding and steps to the operators of the segment: both must outlive the
// result.
StepList make_steps(const Segment& segment, Binding& binding);

// Throws `error` again, with the operator, its inputs and the user's line in its message.
[[noreturn]] void fail_at(const RunOp& op, const Segment& segment, std::exception_ptr error);

}  // namespace paddle_mini

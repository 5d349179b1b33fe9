// steps: creates the kernels of a segment in execution order.
#pragma once

#include <algorithm>

#include "executor/binding.h"

namespace paddle_mini {

// The range of a variable's elements in one chunk of a staged transfer.
struct StagedRange {
  int64_t begin = 0, end = 0;
  size_t offset = 0;  // in the staging memory
};

struct Step {
  std::unique_ptr<Kernel> kernel;
  const RunOp* op;  // the first of `count` consecutive operators
  Place place;
  Lane lane = Lane::Compute;
  size_t count = 1;
  SeveralKernels* several = nullptr;  // the kernel that runs them, if count > 1
  bool is_batch = false;              // whether they are launched as a batch
  bool has_epilogue = false;  // whether `several` is an EpilogueKernel
  bool poll = false;  // check after this step whether the user wants to stop
  StagedRange staged = {};

  const RunOp* first() const { return op; }
  const RunOp* last() const { return op + count; }
  const RunOp& running() const { return several ? op[std::min(several->at(), count - 1)] : *op; }
  std::string types() const;  // "sgd + parameter_average"
  bool is_chunk() const { return staged.end > staged.begin; }
  bool may_fail_validation() const {
    return count == 1 && lane == Lane::Compute && op->schema().may_fail_validation() && kernel->may_fail_validation();
  }
  template <class F>
  void each_write(F f) const {  // calls f(v) for each variable that the step writes
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
  std::vector<std::vector<Variable*>> scratches;  // scratch memory of each operator's kernel
  std::vector<std::shared_ptr<std::deque<Variable>>> scratch_owners;
  size_t kernel_bytes = 0;  // that kernels keep, besides scratch memory
  std::map<Place, StagingMemory> staging;         // host memory for each device
};

// Kernels hold pointers to variables of the binding, and steps hold pointers to operators of the segment, so both must
// outlive the result.
// packed: for the copies of constants.
StepList make_steps(const Segment& segment, Binding& binding, int threads, std::shared_ptr<PackedStore> packed);

// Rethrows `error` with the operator, its inputs and the user's source line in its message.
[[noreturn]] void fail_at(const RunOp& op, const Segment& segment, std::exception_ptr error);

}  // namespace paddle_mini

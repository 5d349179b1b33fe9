// derived: values that operators compute from constants, such as the filters of a convolution with a normalization
// folded into them. They are computed when a plan first runs, and again when values of the scope may have changed. All
// plans and executors of a scope share them; they live as long as a plan that uses them.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "core/kernel.h"

namespace paddle_mini {

struct RunOp;
struct Segment;

// The outputs of one operator.
struct DerivedValues {
  std::mutex mutex;  // held while they are computed
  std::atomic<uint64_t> version{0};  // Scope::values_version when they were computed; 0: they were not
  std::deque<Variable> outputs;
  size_t bytes = 0;
};

// Makes the outputs of an operator derived values. Its inputs must be constants, or inputs of which it reads only the
// shape; its outputs temporary tensors that no other operator writes. Returns false, and changes nothing, if there is no
// memory for them (has_room_for_copy).
bool derive(Segment& segment, RunOp& op);

// Runs the operator's kernel if values of the scope may have changed since the outputs were computed.
class DerivedKernel : public Kernel {
 public:
  DerivedKernel(std::unique_ptr<Kernel> kernel, std::shared_ptr<DerivedValues> values)
      : kernel_(std::move(kernel)), values_(std::move(values)) {}
  void run(KernelContext& context) override;
  bool may_fail_validation() const override { return kernel_->may_fail_validation(); }
  void refuse(const Fault& fault) const override { kernel_->refuse(fault); }

 private:
  std::unique_ptr<Kernel> kernel_;
  std::shared_ptr<DerivedValues> values_;
};

}  // namespace paddle_mini

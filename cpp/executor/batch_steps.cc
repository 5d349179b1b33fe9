// Finds the steps of batch loops, and moves the parts of their variables.
#include "executor/batch_steps.h"

namespace paddle_mini {

std::vector<BatchSteps> find_batch_steps(const Segment& segment, const Binding& binding, const StepList& steps) {
  std::vector<BatchSteps> found;
  auto first_from = [&](size_t op) {
    auto before = [&](const Step& step, const RunOp* at) { return step.op < at; };
    auto at = std::lower_bound(steps.steps.begin(), steps.steps.end(), segment.ops.data() + op, before);
    return static_cast<size_t>(at - steps.steps.begin());
  };
  for (const BatchLoop& loop : segment.batch_loops) {
    BatchSteps one{first_from(loop.first), first_from(loop.last), loop.count};
    for (const auto& [whole, part] : loop.parts) one.parts.push_back({binding.variable(whole), binding.variable(part)});
    found.push_back(std::move(one));
  }
  return found;
}

StepOrder::StepOrder(const std::vector<BatchSteps>& loops, size_t begin) : loop_(loops.begin()), end_(loops.end()) {
  while (loop_ != end_ && loop_->first < begin) ++loop_;
}

void StepOrder::enter(size_t step) {
  if (loop_ != end_ && step == loop_->first) set_parts();
}

size_t StepOrder::next(size_t step) {
  if (loop_ == end_ || step + 1 != loop_->last) return step + 1;
  if (++turn_ < loop_->count) return loop_->first;
  turn_ = 0;
  ++loop_;
  return step + 1;
}

void StepOrder::set_parts() const {
  for (const BatchSteps::Part& one : loop_->parts) {
    const size_t offset = static_cast<size_t>(turn_) * one.part->tensor.bytes();
    one.part->tensor.data = static_cast<char*>(one.whole->tensor.data) + offset;
  }
}

}  // namespace paddle_mini

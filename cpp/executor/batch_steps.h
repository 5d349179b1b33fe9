// batch_steps: runs the steps of a BatchLoop (segment.h) for some entries of a batch after the others.
#pragma once

#include "executor/steps.h"

namespace paddle_mini {

struct BatchSteps {
  size_t first, last;  // the steps [first, last)
  int64_t count;  // how many times they run
  struct Part {
    const Variable* whole;
    Variable* part;
  };
  std::vector<Part> parts = {};
};

std::vector<BatchSteps> find_batch_steps(const Segment& segment, const Binding& binding, const StepList& steps);

// The order in which a run comes to its steps.
class StepOrder {
 public:
  // From step `begin` on, with which no loop has begun.
  StepOrder(const std::vector<BatchSteps>& loops, size_t begin);
  void enter(size_t step);  // before the step runs
  size_t next(size_t step);  // the step to run after it

 private:
  void set_parts() const;

  std::vector<BatchSteps>::const_iterator loop_, end_;
  int64_t turn_ = 0;
};

}  // namespace paddle_mini

// Kernels that can take back their step of a run that did not end well.
#pragma once

namespace paddle_mini {

struct Device;

// For values that are kept between runs and are changed in place, as sums are: a copy of them, which is what the executor
// makes of others, would cost more than the step. A kernel may say so besides being a Kernel.
class TakesBack {
 public:
  virtual ~TakesBack() = default;
  // What run() did in this run, all of it or as many elements as it came to, is undone. Called on a processor only.
  virtual void take_back(Device& device) = 0;
};

}  // namespace paddle_mini

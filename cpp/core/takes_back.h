// Kernels that can take back their step of a run that did not end well.
#pragma once

namespace paddle_mini {

struct Device;

// For values that are kept between runs and are changed in place, as sums are: a copy, which the executor makes of other
// such values, would cost more than the step. A class that is a Kernel may be this too.
class TakesBack {
 public:
  virtual ~TakesBack() = default;
  // Undoes what run() did in this run: all of it, or the elements that it had reached. Called on a CPU only.
  virtual void take_back(Device& device) = 0;
};

}  // namespace paddle_mini

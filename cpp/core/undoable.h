// Undoable: kernels that can undo their step of a failed run.
#pragma once

namespace paddle_mini {

struct KernelContext;

// For values that persist between runs and are updated in place, such as sums: the executor's usual backup copy would
// cost more than the step. A Kernel class may inherit this too.
class Undoable {
 public:
  virtual ~Undoable() = default;
  // Undoes the part of run() that was executed in this run: all elements, or those it had reached. Called on the CPU
  // only.
  virtual void undo(KernelContext& context) = 0;
};

}  // namespace paddle_mini

// When an operator that keeps statistics over the batches uses them, and leaves them as they are.
#pragma once

namespace paddle_mini {

// `says` tells whether an attribute of this name is there and true. Asked of batch_norm by its record and kernels, and
// of every operator by the check of what a program changes (executor/verify.cc).
template <class Says>
bool uses_kept_statistics(const Says& says) {
  return says("use_global_stats") || (says("is_test") && !says("trainable_statistics"));
}

}  // namespace paddle_mini

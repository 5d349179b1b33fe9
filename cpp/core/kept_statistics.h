// Whether an operator with running statistics (batch_norm) reads them instead of updating them.
#pragma once

namespace paddle_mini {

// `says(name)` returns whether the boolean attribute exists and is true. The schema and the kernels of batch_norm call
// this, and the check of what a program changes (executor/verify.cc) calls it for every operator.
template <class Says>
bool uses_kept_statistics(const Says& says) {
  return says("use_global_stats") || (says("is_test") && !says("trainable_statistics"));
}

}  // namespace paddle_mini

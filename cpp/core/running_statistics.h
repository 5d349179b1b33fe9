// Whether an operator with running statistics (batch_norm) reads them instead of updating them.
#pragma once

namespace paddle_mini {

// `attribute(name)` returns whether the boolean attribute exists and is true. The schema and the kernels of batch_norm call
// this, and the check of what a program changes (executor/verify.cc) calls it for every operator.
template <class Attribute>
bool uses_running_statistics(const Attribute& attribute) {
  return attribute("use_global_stats") || (attribute("is_test") && !attribute("trainable_statistics"));
}

}  // namespace paddle_mini

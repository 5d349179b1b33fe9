// Adding up values that come one after the other: gradients of a block that runs many times.
#pragma once

#include "core/variable.h"

namespace paddle_mini {

// Zeros like a tensor; an array of zeros like an array of tensors.
Variable zeros_like(const Variable& value);

// sum += more, for floating tensors, selected rows and arrays of tensors. `sum` has memory of its own
// (zeros_like, or copy_of), never shared with another variable. Rows of selected rows are appended.
void accumulate(Variable& sum, const Variable& more);

}  // namespace paddle_mini

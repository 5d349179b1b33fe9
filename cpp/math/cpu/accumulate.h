// Accumulation of values that arrive one after the other: gradients of a block that runs many times.
#pragma once

#include "core/variable.h"

namespace paddle_mini {

// Zeros like a tensor, or an array of zeros like an array of tensors.
Variable zeros_like(const Variable& value);

// sum += more, for floating tensors, selected rows and arrays of tensors. `sum` must own its memory (from zeros_like or
// copy_of) and not share it with another variable. Rows of selected rows are appended.
void accumulate(Variable& sum, const Variable& more);

}  // namespace paddle_mini

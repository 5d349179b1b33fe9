// pure_operators: operators whose outputs depend on their inputs and attributes only, and which do nothing else.
#pragma once

#include "executor/segment.h"

namespace paddle_mini {

// Whether the operator is known to be pure. Operators that draw random numbers, print or access files are not, nor are
// the user's own.
bool is_pure(const RunOp& op);

}  // namespace paddle_mini

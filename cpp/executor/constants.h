// constants: operators with constant inputs are computed once.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// The outputs of pure operators (pure_operators.h) whose inputs are constants, or of which they read only the shape,
// become derived values (derived.h): they are computed in the first run, and in the first one after values of the scope
// may have changed. Results that are larger than their inputs have 64 MB in all. Operators stay in their places, so that
// errors keep their order. Programs that write variables of the scope, other devices than the CPU, and results that are
// fetched are left alone.
Segment compute_constants(Segment segment, const Placement& placement);

}  // namespace paddle_mini

// identities: operators that change nothing are left out.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// Leaves out operators whose output has the values of a variable that exists already; readers read that one:
//   assign, scale by 1 + 0, cast to the same type, dropout in testing (upscale_in_train), concat and split of one;
//   casts to a wider type and back, reshapes back to a shape that the value had, transposes that cancel.
// dropout in testing that scales becomes a scale. Then pure operators (pure_operators.h) that check no data and whose
// outputs are not read are left out. A result that is fetched, or read after the segment, keeps its operator. Programs
// that write variables of the scope and other devices than the CPU are left alone.
Segment leave_out_identities(Segment segment, const Placement& placement);

}  // namespace paddle_mini

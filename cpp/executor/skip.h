// skip: removes operators whose output has the bytes of their input.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// A dropout in testing, an assignment, or a cast to the same element type is removed, and its input is read instead of its
// output, also by fetches, if no operator writes either of them later and nothing outside of the segment reads the output.
// OpSchema::identity says which operators these are; all bits stay the same.
Segment skip(Segment segment, const Placement& placement);

}  // namespace paddle_mini

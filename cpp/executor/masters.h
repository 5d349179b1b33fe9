// masters: steps of optimizers with a master parameter (core/master_parameter.h) become steps on it, with casts around
// them.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

Segment update_masters(Segment segment, const Placement& placement);

}  // namespace paddle_mini

// fuse: moves operators next to a preceding one so that they run tile by tile with it.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// An operator that works element by element on a variable of the scope that an earlier one updates element by element,
// such as parameter_average after sgd, moves directly after that one and is marked `fused`: both then process one
// cache-sized tile before the next, so the variable is read from memory once. An operator moves only across operators
// that neither write its inputs nor access its outputs, so every value stays the same to the bit. In the same way, a
// value transferred to the host is averaged chunk by chunk while the transfer continues. PM_FUSE=0 turns fusing off.
Segment fuse(Segment segment, const Placement& placement);

bool wants_fusion();  // unless PM_FUSE is 0

}  // namespace paddle_mini

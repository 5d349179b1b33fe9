// fuse: which operators run tile by tile with the one before them, and where they move to for that.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// An operator that works element by element on a variable of the scope that an earlier one changes element by element,
// such as parameter_average after sgd, moves behind that one and is marked `joined`: both then run over a tile that fits
// the cache before the next tile begins, and the variable is read from memory once. An operator moves only over operators
// that neither write what it reads nor touch what it writes, so every value stays the same to the bit. What a transfer
// brings to the host is averaged in the same way, piece by piece behind the transfer. PM_FUSE=0 turns fusing off.
Segment fuse(Segment segment, const Placement& placement);

}  // namespace paddle_mini

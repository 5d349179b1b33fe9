// fuse: which operators run part by part with the one before them, and where for that they move to.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// An operator that works element by element on a variable of the scope that an earlier one changes element by element,
// such as parameter_average after sgd, moves behind that one and is marked `joined`: both then run over a part that
// fits the cache before the next part begins, and the variable is read from memory once. An operator moves only over
// operators that neither write what it reads nor touch what it writes, so every value stays the same to the bit.
// What a transfer brings to the host is averaged in the same way, piece by piece behind the transfer.
// `placed` holds an entry for each of program.ops and is put into the same order. PM_FUSE=0 turns fusing off.
void fuse(InferredProgram& program, std::vector<PlacedOp>& placed, const Placement& placement);

}  // namespace paddle_mini

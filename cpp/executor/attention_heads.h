// read_heads_in_place: attention reads and writes the heads of words where they lie.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// If Q, K and V of `attention` are transposed from [batch, words, heads, width] to [batch, heads, words, width], possibly
// split along the heads, and its result is transposed back, attention reads and writes the former order instead: it packs
// keys and values anyway. The transposes and the split go, unless anything else reads their results. The bits stay.
Segment read_heads_in_place(Segment segment, const Placement& placement);

}  // namespace paddle_mini

// epilogues: elementwise operators run on each part of the output before them, while it is in cache.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// Marks elementwise operators on the CPU that follow an operator whose output they continue, such as the bias and the
// activation after a product: as soon as the product has stored a part of its output, they run on it (Epilogue in
// core/stored_parts.h), or the product computes them in registers (RegisterStep). The first operator of such a group states
// in its schema that it stores_parts(), or is elementwise too. Every value has the same bits, because an element depends on
// the elements at its place alone. PM_FUSE=0 turns this off.
Segment add_epilogues(Segment segment, const Placement& placement);

}  // namespace paddle_mini

// stream: moves operators after the one whose output they continue, so that they run on its parts while these are in cache.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// A batch_norm in testing, an addition or a relu after a convolution works element by element: it moves directly after the
// convolution and is marked `streamed`. The convolution then reports each part of its output that it has written, and the
// operators after it run on that part. Each runs its own kernel, on the same values in the same order, so all results,
// inner variables included, have the same bits. OpSchema::leads and OpSchema::follows say which operators take part, on a
// CPU. An operator moves only across operators that neither write its inputs nor access its outputs.
Segment stream(Segment segment, const Placement& placement);

}  // namespace paddle_mini

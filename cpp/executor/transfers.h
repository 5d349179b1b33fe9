// transfers: where values cross from one device to another.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// The segment with a home for each variable and the transfers between devices. Variables of the scope live where they are
// written last, or if they are only read, where that happens first; every other variable lives where it is made. Where an
// operator reads a value that is elsewhere, memcpy_d2h and memcpy_h2d are put in before it, once for each value and device.
Segment add_transfers(Segment segment, const Placement& placement);

}  // namespace paddle_mini

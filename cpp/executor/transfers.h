// transfers: adds transfers of values between devices.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// Returns the segment with a home for each variable and with transfers between devices. The home of a scope variable is
// where it is last written or, if it is only read, where it is first read; any other variable lives where it is
// computed. If an operator reads a value that is elsewhere, memcpy_d2h and memcpy_h2d are inserted before it, once per
// value and device.
Segment add_transfers(Segment segment, const Placement& placement);

}  // namespace paddle_mini

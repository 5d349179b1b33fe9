// SegmentedScatter: scatters sources to targets on a GPU. A CPU scatters in a loop and needs no memory for that, so the
// class is empty there: kernels have the same members on all devices.
#pragma once

#include "core/kernel.h"

#include PM_LAUNCHERS(segmented_scatter)

// map_ahead: map with software prefetch, for functors with so much computation that the CPU does not prefetch.
#pragma once

#include "math/map.h"

#include PM_LAUNCHERS(map_ahead)

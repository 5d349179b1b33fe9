// map for functors that compute long: they keep the processor from reading ahead by itself.
#pragma once

#include "math/map.h"

#include PM_LAUNCHERS(map_ahead)

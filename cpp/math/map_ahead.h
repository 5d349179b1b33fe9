// map for functors that compute long: they keep the CPU from reading ahead by itself.
#pragma once

#include "math/map.h"

#include PM_LAUNCHERS(map_ahead)

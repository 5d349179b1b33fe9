// AxisFolds: the geometry of a reduction over some axes of a tensor, for any fold function.
#pragma once

#include "math/arithmetic.h"
#include "math/axis_index_map.h"

#include PM_LAUNCHERS(axis_folds)

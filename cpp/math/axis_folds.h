// AxisFolds: the walk of a fold over some axes of a tensor, whatever is folded.
#pragma once

#include "math/arithmetic.h"
#include "math/axis_index_map.h"

#include PM_LAUNCHERS(axis_folds)

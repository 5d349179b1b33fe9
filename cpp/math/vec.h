// The functions that a functor may use. A functor written for any V is instantiated on a CPU for Vec<float> (a
// register) and, for scalar loops, for a plain T; on a GPU only for T.
#pragma once

#include "math/number.h"

#include PM_LAUNCHERS(vec)

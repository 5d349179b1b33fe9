// What a functor may use. One written for any V runs on Vec<float>, a register of a CPU, in the body of a loop and on a
// plain T elsewhere, and everywhere on a GPU.
#pragma once

#include "math/number.h"

#include PM_LAUNCHERS(vec)

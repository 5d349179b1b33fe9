// erf, and NormalChance<T>: the chance `below` that a normal random number is below x, (1 + erf(x / sqrt(2))) / 2, and
// `bell`, exp(-x^2 / 2).
#pragma once

#include "core/target.h"

#include PM_LAUNCHERS(error_function)

// erf and NormalChance<T>: `bell` is exp(-x^2 / 2), and `below` is the probability that a normal number is below x,
// (1 + erf(x / sqrt(2))) / 2.
#pragma once

#include "core/target.h"

#include PM_LAUNCHERS(error_function)

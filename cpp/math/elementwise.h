// Elementwise<K>: the loops of a kernel that applies a functor to whole arrays. K has numel(), and apply(f), which calls
// f(functor, out, in...) with arrays of as many elements.
#pragma once

#include "math/map.h"

#include PM_LAUNCHERS(elementwise)

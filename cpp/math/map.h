// map: applies a functor element by element to whole arrays, at the speed of memory.
//   map(context, n, f, out, in...)                       out[i] = f(in[i]...)
//   map(context, n, f, std::tuple(out...), in...)        f returns a std::tuple with one value for each output
// Outputs may be the same arrays as inputs. f may have bind_scalars() (math/bind_scalars.h).
#pragma once

#include <tuple>

#include "core/kernel.h"
#include "math/bind_scalars.h"
#include "math/vec.h"

#include PM_LAUNCHERS(map)

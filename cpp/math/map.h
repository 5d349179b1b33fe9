// map: one functor over whole arrays, element by element. Memory speed is the limit it is built for.
//   map(device, n, f, out, in...)                       out[i] = f(in[i]...)
//   map(device, n, f, std::tuple(out...), in...)        f returns a std::tuple, one value for each output
// Outputs may be the same arrays as inputs. f may have ready() (math/bind_scalars.h).
#pragma once

#include <tuple>

#include "core/interruption.h"
#include "core/kernel.h"
#include "math/bind_scalars.h"
#include "math/vec.h"

#include PM_LAUNCHERS(map)

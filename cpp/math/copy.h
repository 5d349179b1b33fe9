// Copying and filling arrays, wherever they are.
//   fill_n(device, to, n, value)    to[i] = value, a number or a Uniform
//   copy_n(device, from, n, to)     to[i] = from[i]; the arrays do not overlap
#pragma once

#include <algorithm>

#include "math/map.h"
#include "math/scalar_arg.h"

namespace paddle_mini {

// What the numbers of all elements are; a tensor may hold it.
template <class T>
struct Constant {
  T value;
  PM_HD T operator()() const { return value; }
};
template <class T>
struct ConstantOf {
  ScalarArg<T> value;
  PM_HD Constant<T> bind_scalars() const { return {value()}; }
};

}  // namespace paddle_mini

#include PM_LAUNCHERS(copy)

// Copying and filling arrays in a device's memory.
//   fill_n(context, to, n, value)    to[i] = value, a number or a ScalarArg
//   copy_n(context, from, n, to)     to[i] = from[i]; the arrays must not overlap
#pragma once

#include <algorithm>

#include "math/map.h"
#include "math/scalar_arg.h"

namespace paddle_mini {

// The value of all elements; it may be in a tensor.
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

// Sums over whole arrays, written to an operator's output.
//   sum_of(context, n, f, x, out, divisor = 1)    *out = sum of f(x[i]) / divisor
//   sum_to(context, n, f, out, in...)             *out = sum of f(in[i]...), a double
#pragma once

#include "math/arithmetic.h"
#include "math/map.h"

#include PM_LAUNCHERS(sum_of)

namespace paddle_mini {

struct Squared {
  template <class V>
  PM_HD V operator()(V v) const {
    return v * v;
  }
};

}  // namespace paddle_mini

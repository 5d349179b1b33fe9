// The proximal step of l1 and l2 regularization on one element.
#pragma once

#include "math/scalar_arg.h"
#include "math/vec.h"

namespace paddle_mini {

// Duchi & Singer 2009: the result of gradient descent is moved towards 0 by rate * l1, then divided by 1 + rate * l2.
template <class T>
struct Proximal {
  T threshold, divisor;

  PM_HD Proximal(T rate, T l1, T l2) : threshold(l1 > T(0) ? rate * l1 : T(0)), divisor(T(1) + rate * l2) {}

  template <class V>
  PM_HD V operator()(V reached) const {
    if (threshold == T(0)) return reached / V(divisor);
    return sign(reached) * (maximum(abs(reached) - V(threshold), V(T(0))) / V(divisor));
  }
};

}  // namespace paddle_mini

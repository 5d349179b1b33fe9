// Sine, cosine and their hyperbolic forms, for numbers and registers.
#pragma once

#include "math/vec.h"

namespace paddle_mini {

template <class V>
PM_HD V sine(V x) {
  return each_lane(x, [](auto number) { return std::sin(number); });
}

template <class V>
PM_HD V cosine(V x) {
  return each_lane(x, [](auto number) { return std::cos(number); });
}

template <class V>
PM_HD V hyperbolic_sine(V x) {
  return each_lane(x, [](auto number) { return std::sinh(number); });
}

template <class V>
PM_HD V hyperbolic_cosine(V x) {
  return each_lane(x, [](auto number) { return std::cosh(number); });
}

}  // namespace paddle_mini

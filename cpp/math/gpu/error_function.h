// The error function for scalars.
#pragma once

#include "math/number.h"

namespace paddle_mini {

using std::erf;

template <class T>
struct NormalChance {
  T below, bell;
  PM_HD explicit NormalChance(T x)
      : below(T(0.5) * std::erfc(x * T(-0.70710678118654752))), bell(exp(T(-0.5) * x * x)) {}
};

}  // namespace paddle_mini

// Polynomials on registers.
#pragma once

#include "math/vec.h"

namespace paddle_mini {

// c[0] + c[1] x + c[2] x^2 + ...
template <class T, int n>
Vec<T> polynomial(const T (&c)[n], Vec<T> x) {
  Vec<T> sum(c[n - 1]);
#pragma GCC unroll 16
  for (int i = n - 2; i >= 0; --i) sum = multiply_add(sum, x, Vec<T>(c[i]));
  return sum;
}

}  // namespace paddle_mini

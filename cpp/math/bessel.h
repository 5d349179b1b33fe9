// Modified Bessel functions of the first kind, of order 0 and 1 (Abramowitz and Stegun 9.6.10 and 9.7.1).
#pragma once

#include <limits>

#include "math/number.h"

namespace paddle_mini {

// exp(-|x|) I(x): below 20 the power series, whose terms are all positive; from there on the asymptotic series, whose
// smallest term is below the last digit.
PM_HD inline double scaled_bessel_i(int order, double x) {
  double size = x < 0 ? -x : x, sign = order == 1 && x < 0 ? -1 : 1;
  if (size < 20) {
    double quarter = x * x / 4, term = order == 0 ? 1 : size / 2, sum = term;
    for (int k = 1; term > sum * 1e-17; ++k) {
      term *= quarter / (k * (k + order));
      sum += term;
    }
    return sign * sum * std::exp(-size);
  }
  if (size == std::numeric_limits<double>::infinity()) return sign * 0.0;
  double term = 1, sum = 1;
  for (int k = 1; k < 30; ++k) {  // factors (4 order^2 - (2k - 1)^2) / (8 k x), of which -1 in each power
    term *= ((2.0 * k - 1) * (2 * k - 1) - 4 * order) / (8 * k * size);
    sum += term;
  }
  return sign * sum / std::sqrt(6.283185307179586477 * size);
}

// I(x), infinite where it is larger than all numbers.
PM_HD inline double bessel_i(int order, double x) {
  if (x == std::numeric_limits<double>::infinity() || x == -std::numeric_limits<double>::infinity()) {
    return order == 1 ? x : std::numeric_limits<double>::infinity();
  }
  double half = std::exp((x < 0 ? -x : x) / 2);  // exp(|x|) overflows before the result does
  return half * scaled_bessel_i(order, x) * half;
}

}  // namespace paddle_mini

// The logarithm of |gamma(x)| and its derivatives: digamma and polygamma, of one double.
#pragma once

#include <limits>

#include "math/number.h"

namespace paddle_mini {

namespace gamma_series {

constexpr double kPi = 3.14159265358979323846;
// From here on, 8 terms of the asymptotic series are exact to the last digits.
constexpr double kAsymptotic = 15;

// The Bernoulli numbers B_2, B_4, ..., B_16.
PM_HD inline double bernoulli(int i) {
  constexpr double numbers[] = {1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510};
  return numbers[i];
}
constexpr int kBernoulli = 8;

PM_HD inline bool is_pole(double x) { return x <= 0 && x == std::floor(x); }

}  // namespace gamma_series

// log |gamma(x)|. lgamma of the C library writes the sign to a global variable, which threads would share.
template <class V>
PM_HD V log_gamma(V x) {
  if constexpr (kOnGpu) return std::lgamma(x);
  else {
    int sign;
    return static_cast<V>(::lgamma_r(static_cast<double>(x), &sign));
  }
}

// The derivative of log gamma(x), for x > 0: psi(x) = psi(x + 1) - 1 / x up to the asymptotic series, log x - 1 / (2 x) -
// sum of B_2i / (2i x^2i) (Abramowitz and Stegun 6.3.5 and 6.3.18). NaN at the poles 0, -1, ..., by reflection below 0
// (6.3.7).
PM_HD inline double digamma_of(double x) {
  using namespace gamma_series;
  if (is_pole(x) || x == -std::numeric_limits<double>::infinity()) return std::numeric_limits<double>::quiet_NaN();
  if (x == std::numeric_limits<double>::infinity()) return x;
  double sum = 0;
  if (x < 0) {
    double part = x - std::floor(x);  // tan has the period pi
    sum = -kPi / std::tan(kPi * part);
    x = 1 - x;
  }
  for (; x < kAsymptotic; x += 1) sum -= 1 / x;
  double series = 0, square = 1 / (x * x);
  for (int i = kBernoulli - 1; i >= 0; --i) series = (series + bernoulli(i) / (2 * (i + 1))) * square;
  return sum + std::log(x) - 0.5 / x - series;
}

// The sum of (q + k)^-s over k = 0, 1, ..., for q > 0 and an integer s > 1: terms up to q = 15, then the formula of Euler and
// Maclaurin (Abramowitz and Stegun 23.1.30).
PM_HD inline double hurwitz_zeta(int s, double q) {
  using namespace gamma_series;
  double sum = 0;
  for (; q < kAsymptotic + s; q += 1) sum += std::pow(q, -s);
  double power = std::pow(q, -s);
  double tail = power * q / (s - 1) + 0.5 * power;
  double factor = s * power / q;  // s (s + 1) ... (s + 2i) / (2i + 2)! q^(-s - 2i - 1), times the factorial
  double factorial = 2;
  for (int i = 0; i < kBernoulli; ++i) {
    tail += bernoulli(i) / factorial * factor;
    factor *= (s + 2 * i + 1) * (s + 2 * i + 2) / (q * q);
    factorial *= (2 * i + 3) * (2 * i + 4);
  }
  return sum + tail;
}

// The n-th derivative of digamma: (-1)^(n+1) n! sum of (x + k)^-(n+1) over k = 0, 1, ... Below 0 the sum is one of positive
// numbers upwards and one of negative numbers down to x. At the poles it is infinite, with the sign of its right side.
PM_HD inline double polygamma_of(int n, double x) {
  using namespace gamma_series;
  if (n == 0) return digamma_of(x);
  double factorial = n % 2 == 0 ? -1 : 1;
  for (int i = 2; i <= n; ++i) factorial *= i;
  if (x != x || x == -std::numeric_limits<double>::infinity()) return std::numeric_limits<double>::quiet_NaN();
  if (x == std::numeric_limits<double>::infinity()) return 0;
  if (is_pole(x)) return factorial * std::numeric_limits<double>::infinity();
  int s = n + 1;
  if (x > 0) return factorial * hurwitz_zeta(s, x);
  double part = x - std::floor(x);
  double below = hurwitz_zeta(s, 1 - part) - hurwitz_zeta(s, 1 - x);
  return factorial * (hurwitz_zeta(s, part) + (s % 2 == 0 ? below : -below));
}

}  // namespace paddle_mini

// The error function on registers.
#pragma once

#include "math/cpu/exp_below.h"

namespace paddle_mini {

// exp(z^2) (1 - erf(z)) for z >= 0: a polynomial in t = 1 / (1 + 0.4 z), in the form of Hastings (Approximations for
// Digital Computers, 1955). Its relative error is below 6.2e-8 up to z = 10, where exp(-z^2) is 0 in float.
inline Vec<float> scaled_complement(Vec<float> z) {
  static constexpr float c[] = {0.22563423174f, 0.22644310073f, 0.20188766850f,  0.19339289865f, 0.07975721189f,
                                0.08796331705f, 0.08398815861f, -0.14031964795f, 0.04125312256f};
  Vec<float> t = Vec<float>(1) / multiply_add(Vec<float>(0.4f), z, Vec<float>(1));
  return t * polynomial(c, t);
}

// Below 1, the polynomial of erf(x) / x in x^2 with a relative error of 4e-8: 1 - (1 - erf) would lose digits there.
inline Vec<float> erf(Vec<float> x) {
  static constexpr float c[] = {1.12837912249f,  -0.37612326187f, 0.11280180116f,
                                -0.02671131144f, 0.00491755157f,  -0.00056314229f};
  Vec<float> z = abs(x), square = x * x;
  Vec<float> far = Vec<float>(1) - exp_below(-square) * scaled_complement(z);
  return select(z < Vec<float>(1), x * polynomial(c, square), select(x < Vec<float>(0), -far, far));
}
inline Vec<double> erf(Vec<double> x) {
  return each_lane(x, [](double number) { return std::erf(number); });
}

// The probability that a standard normal number is below x, (1 + erf(x / sqrt(2))) / 2, and exp(-x^2 / 2).
template <class T>
struct NormalChance {
  Vec<T> below, bell;

  explicit NormalChance(Vec<T> x) : bell(exp_below(Vec<T>(T(-0.5)) * x * x)) {
    const Vec<T> root_of_half(T(0.70710678118654752)), half(T(0.5)), one(T(1));
    if constexpr (sizeof(T) == 4) {
      Vec<T> beyond = half * bell * scaled_complement(abs(x) * root_of_half);
      below = select(x < Vec<T>(T(0)), beyond, one - beyond);
    } else {
      below = half * (one + erf(x * root_of_half));
    }
  }
};

}  // namespace paddle_mini

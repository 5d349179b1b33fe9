// exp for x <= 0, as in softmax and the normal density. It can't overflow, which saves half of the work.
#pragma once

#include <cstdint>

#include "math/cpu/polynomial.h"

namespace paddle_mini {

// max(a, least); NaN stays NaN. One instruction, unlike maximum(), because only a can be NaN: Eigen's pmax orders its
// operands like std::max.
template <class T>
Vec<T> no_less(Vec<T> a, T least) {
  return Eigen::internal::pmax(a.p, Vec<T>(least).p);
}

// exp(x) for x <= 0; 0 below -87.7, NaN for NaN. Computes 2^n exp(x - n log(2)) with n = round(x / log(2)); the second
// factor is a polynomial with a relative error of 4e-9.
inline Vec<float> exp_below(Vec<float> x) {
  using Bits [[gnu::vector_size(sizeof(x.p))]] = int32_t;
  static constexpr float c[] = {1, 1, 0.49999993439f, 0.16666520148f, 0.04166838525f, 0.00836877762f, 0.00138150355f};
  // Adding 1.5 * 2^23 rounds a number to an integer, which is in the last bits of the sum. With 127 added, these are
  // the exponent bits of 2^n; for -88 they are 0, and so is the result.
  const Vec<float> round(12582912 + 127);
  x = no_less(x, -88.0f);
  Vec<float> sum = multiply_add(x, Vec<float>(1.44269504089f), round), n = sum - round;
  Vec<float> rest = multiply_add(n, Vec<float>(2.12194440e-4f), multiply_add(n, Vec<float>(-0.693359375f), x));
  Vec<float> power(reinterpret_cast<Vec<float>::Packet>(reinterpret_cast<Bits>(sum.p) << 23));
  return polynomial(c, rest) * power;
}
inline Vec<double> exp_below(Vec<double> x) { return exp(x); }

}  // namespace paddle_mini

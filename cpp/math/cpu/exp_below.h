// exp of numbers up to 0, as softmax and the bell curve need it: half the work, as nothing overflows.
#pragma once

#include <cstdint>

#include "math/cpu/polynomial.h"

namespace paddle_mini {

// a, or `least` where a is below it; NaN stays NaN. One instruction, unlike maximum, as only a may be NaN: Eigen's
// orders its operands like std::max.
template <class T>
Vec<T> no_less(Vec<T> a, T least) {
  return Eigen::internal::pmax(a.p, Vec<T>(least).p);
}

// exp(x) for x <= 0; 0 below -87.7, NaN for NaN. With n = x / log(2) rounded it is 2^n exp(x - n log(2)), and of that
// exp a polynomial with a relative error of 4e-9.
inline Vec<float> exp_below(Vec<float> x) {
  using Bits [[gnu::vector_size(sizeof(x.p))]] = int32_t;
  static constexpr float c[] = {1, 1, 0.49999993439f, 0.16666520148f, 0.04166838525f, 0.00836877762f, 0.00138150355f};
  // A number added to 1.5 * 2^23 is rounded, into the last bits of the sum. With 127 more these are the exponent of
  // 2^n: for -88 it is 0, and so is the result.
  const Vec<float> round(12582912 + 127);
  x = no_less(x, -88.0f);
  Vec<float> sum = multiply_add(x, Vec<float>(1.44269504089f), round), n = sum - round;
  Vec<float> rest = multiply_add(n, Vec<float>(2.12194440e-4f), multiply_add(n, Vec<float>(-0.693359375f), x));
  Vec<float> power(reinterpret_cast<Vec<float>::Packet>(reinterpret_cast<Bits>(sum.p) << 23));
  return polynomial(c, rest) * power;
}
inline Vec<double> exp_below(Vec<double> x) { return exp(x); }

}  // namespace paddle_mini

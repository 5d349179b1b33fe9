// Conversion between 16-bit floats and float, rounded to nearest, ties to even (IEEE 754-2019, 4.3.1).
#pragma once

#include <cstring>
#include <type_traits>

#include "core/dtype.h"
#include "core/target.h"

namespace paddle_mini {

namespace half {
PM_HD inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
PM_HD inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
}  // namespace half

// bfloat16 is the upper half of a float.
PM_HD inline float to_float(BFloat16 value) { return half::float_of(static_cast<uint32_t>(value.bits) << 16); }

PM_HD inline void from_float(float value, BFloat16& result) {
  uint32_t bits = half::bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) result.bits = static_cast<uint16_t>(bits >> 16 | 0x40u);  // stays NaN
  else result.bits = static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// float16 has 5 bits of exponent, biased by 15, and 10 of fraction. Multiplying by 2^112, a power of two, moves the
// exponent to float's bias, subnormals included; infinity and NaN have no finite counterpart.
PM_HD inline float to_float(Float16 value) {
  uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16;
  uint32_t rest = static_cast<uint32_t>(value.bits & 0x7fffu) << 13;
  if (rest >= 0x0f800000u) return half::float_of(sign | 0x7f800000u | (rest & 0x007fe000u));
  return half::float_of(sign | half::bits_of(half::float_of(rest) * half::float_of(0x77800000u)));
}

PM_HD inline void from_float(float value, Float16& result) {
  uint32_t bits = half::bits_of(value), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) {
    result.bits = static_cast<uint16_t>(sign | 0x7e00u);
  } else if (rest >= 0x477ff000u) {  // values from 65520 on round to infinity
    result.bits = static_cast<uint16_t>(sign | 0x7c00u);
  } else if (rest < 0x38800000u) {  // subnormal: adding 1/2 leaves the fraction, rounded, in the lowest bits
    result.bits = static_cast<uint16_t>(sign | (half::bits_of(half::float_of(rest) + 0.5f) - 0x3f000000u));
  } else {
    rest += 0xc8000fffu + (rest >> 13 & 1u);  // rebias, and add half of the last place except for ties
    result.bits = static_cast<uint16_t>(sign | rest >> 13);
  }
}

template <class T>
constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// The type in which T is computed.
template <class T>
using Computed = std::conditional_t<is_half<T>, float, T>;

template <class T>
PM_HD Computed<T> computed(T value) {
  if constexpr (is_half<T>) return to_float(value);
  else return value;
}

}  // namespace paddle_mini

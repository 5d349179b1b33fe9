// power(x, y): x to the power of y, for floats, integers and registers.
#pragma once

#include "math/vec.h"

namespace paddle_mini {

// Products wrap around. A negative power is truncated: 0 unless x is 1 or -1; also 0 for x = 0.
template <class T>
PM_HD T whole_power(T x, T y) {
  if (y < 0) return x == 1 ? T(1) : x == -1 ? (y % 2 ? T(-1) : T(1)) : T(0);
  using Unsigned = std::make_unsigned_t<T>;
  Unsigned result = 1, base = static_cast<Unsigned>(x);
  for (Unsigned left = static_cast<Unsigned>(y); left; left >>= 1) {
    if (left & 1) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}

template <class V>
PM_HD V power(V x, V y) {
  if constexpr (std::is_integral_v<V>) return whole_power(x, y);
  else return each_lane(x, y, [](auto a, auto b) { return std::pow(a, b); });
}

}  // namespace paddle_mini

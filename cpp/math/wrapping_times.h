// Products and quotients of integers that wrap around, where those of two signed ones may overflow.
#pragma once

#include <type_traits>

#include "core/target.h"

namespace paddle_mini {

struct WrappingTimes {
  template <class T>
  PM_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      using Wrapping = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
    } else {
      return a * b;
    }
  }
};

// Quotients of integers are truncated towards zero; b must not be 0. Only that of the smallest integer and -1 overflows.
struct WrappingQuotient {
  template <class V>
  PM_HD V operator()(V a, V b) const {
    if constexpr (std::is_integral_v<V> && std::is_signed_v<V>) {
      if (b == V(-1)) return static_cast<V>(0 - static_cast<std::make_unsigned_t<V>>(a));
    }
    return static_cast<V>(a / b);
  }
};

}  // namespace paddle_mini

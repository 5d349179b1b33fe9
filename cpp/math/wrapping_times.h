// Products of integers that wrap around, where the product of two signed ones may overflow.
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

}  // namespace paddle_mini

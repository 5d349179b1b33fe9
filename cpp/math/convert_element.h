// Conversion of one number between element types. A complex number becomes real by losing its imaginary part.
#pragma once

#include <type_traits>

#include "core/half.h"
#include "math/complex.h"

namespace paddle_mini {

template <class To, class From>
PM_HD To convert_element(From value) {
  if constexpr (is_half<From>) {
    return convert_element<To>(to_float(value));
  } else if constexpr (is_complex_number<From>) {
    using Part = real_part_of<To>;
    if constexpr (is_complex_number<To>) return To(static_cast<Part>(value.real), static_cast<Part>(value.imag));
    else if constexpr (std::is_same_v<To, bool>) return value != From(0);
    else return convert_element<To>(value.real);
  } else if constexpr (is_complex_number<To>) {
    return To(static_cast<real_part_of<To>>(value));
  } else if constexpr (is_half<To>) {
    To result;
    from_float(static_cast<float>(value), result);
    return result;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace paddle_mini

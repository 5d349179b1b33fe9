// Fills a tensor with one number.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>

#include "math/complex.h"
#include "math/copy.h"

namespace paddle_mini {

// Converts the number to T. Truncates if T is an integer type; throws if T can't represent it.
template <class T>
T number_as(double number) {
  if constexpr (std::is_same_v<T, bool>) {
    return number != 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number);
  } else if constexpr (is_complex_number<T>) {
    return T(static_cast<real_part_of<T>>(number));
  } else {
    // -2^63 and 2^63 are exact as double; the highest int64 is not.
    double low = static_cast<double>(std::numeric_limits<T>::min());
    double beyond = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
    require<ProgramError>((number > low - 1 || number == low) && number < beyond, "value is ", number, ", which ",
                          name_of(dtype_of<T>::value), " can't hold");
    return static_cast<T>(number);
  }
}

// The fill value from the attributes `str_value` and `value`. `str_value` is exact where the FLOAT attribute is not, as
// for 0.1 in float64 and for large integers.
template <class T>
T value_to_fill(const KernelInit& init) {
  const std::string& digits = init.attr<std::string>("str_value");
  if (digits.empty()) return number_as<T>(static_cast<double>(init.attr<float>("value")));
  if constexpr (std::is_same_v<T, int64_t>) {
    char* end = nullptr;
    errno = 0;
    int64_t whole = std::strtoll(digits.c_str(), &end, 10);
    if (*end == 0 && errno == 0) return whole;
  }
  return number_as<T>(number_in("str_value", digits));
}

template <class T>
struct FillKernel : Kernel {
  Out<T> out;
  ScalarArg<T> value;

  FillKernel(KernelInit& init, T value) : out(init, "Out"), value(value) {}
  void run(KernelContext& context) override { fill_n(context, out.data(), out.numel(), value); }
};

}  // namespace paddle_mini

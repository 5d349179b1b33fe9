// elementwise_floordiv: Out = floor(X / Y), with Y broadcast over X
#include "math/vec.h"
#include "ops/family/integer_division.h"

namespace paddle_mini {
namespace {

struct FloorDivide {
  // The quotient of the smallest integer and -1 overflows and wraps around to it.
  template <class T>
  PM_HD static T of_whole(T x, T y) {
    if constexpr (std::is_signed_v<T>) {
      if (y == T(-1)) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
    }
    T quotient = static_cast<T>(x / y);
    if constexpr (std::is_unsigned_v<T>) return quotient;
    else return x % y != 0 && (x < 0) != (y < 0) ? static_cast<T>(quotient - 1) : quotient;
  }

  // Rounding could lift x / y above the floor of the true quotient. So the remainder, which is exact, is subtracted
  // first; then the quotient is an integer up to rounding.
  template <class T>
  PM_HD static T of_fractions(T x, T y) {
    if (y == 0) return x / y;
    T left = std::fmod(x, y), quotient = (x - left) / y;
    if (left != 0 && (left < 0) != (y < 0)) quotient -= 1;
    return quotient != 0 ? std::round(quotient) : std::copysign(T(0), x / y);
  }

  template <class V>
  PM_HD V operator()(V x, V y) const {
    return each_lane(x, y, [](auto a, auto b) {
      if constexpr (std::is_integral_v<decltype(a)>) return of_whole(a, b);
      else return of_fractions(a, b);
    });
  }
};

}  // namespace

void define_elementwise_floordiv(OpTable& ops) {
  ops.add(binary("elementwise_floordiv")
              .doc("Out = floor(X / Y). Y's dimensions lie against X's from `axis` on; a dimension of 1 is broadcast. "
                   "For integers, Y = 0 is an error.")
              .no_gradient("Out is constant almost everywhere")
              .checks_data()
              .kernels<IntegerDivisionKernel<FloorDivide>::For, float, double, int32_t, int64_t, int16_t, int8_t,
                       uint8_t>());
}

}  // namespace paddle_mini

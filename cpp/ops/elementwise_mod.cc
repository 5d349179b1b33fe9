// elementwise_mod: Out = the remainder of X divided by Y, with Y broadcast over X
#include "math/vec.h"
#include "ops/family/integer_division.h"

namespace paddle_mini {
namespace {

// The remainder has Y's sign, as in Python. For the smallest integer and -1, whose quotient overflows, it is 0.
struct Remainder {
  template <class T>
  PM_HD static T of_numbers(T x, T y) {
    T left;
    if constexpr (std::is_integral_v<T>) left = y == T(-1) ? T(0) : static_cast<T>(x % y);
    else left = std::fmod(x, y);
    return left != 0 && (left < 0) != (y < 0) ? left + y : left;
  }

  template <class V>
  PM_HD V operator()(V x, V y) const {
    return each_lane(x, y, [](auto a, auto b) { return of_numbers(a, b); });
  }
};

}  // namespace

void define_elementwise_mod(OpTable& ops) {
  ops.add(binary("elementwise_mod")
              .doc("Out = X - Y floor(X / Y): the remainder, with the sign of Y. Y's dimensions are aligned with X's "
                   "from `axis` on; dimensions of 1 are broadcast. For integers, Y = 0 is an error.")
              .no_gradient("PaddlePaddle has no gradient for it")
              .checks_data()
              .kernels<IntegerDivisionKernel<Remainder>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

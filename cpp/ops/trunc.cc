// trunc: Out = X rounded toward zero
#include "ops/family/rounding.h"

namespace paddle_mini {
namespace {

struct Trunc {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) {
      if constexpr (std::is_integral_v<decltype(number)>) return number;
      else return std::trunc(number);
    });
  }
};

}  // namespace

void define_trunc(OpTable& ops) {
  add_rounding<Trunc, float, double, int32_t, int64_t>(
      ops, unary("trunc").doc("Out = X rounded towards zero, element by element; NaN and infinity stay unchanged."));
}

}  // namespace paddle_mini

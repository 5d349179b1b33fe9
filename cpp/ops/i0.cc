// i0: out = I0(x), the modified Bessel function of order 0
#include "math/bessel.h"
#include "ops/family/named_unary.h"

namespace paddle_mini {
namespace {

struct BesselI0 {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return static_cast<decltype(number)>(bessel_i(0, number)); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * each_lane(x, [](auto number) { return static_cast<decltype(number)>(bessel_i(1, number)); });
  }
};

}  // namespace

void define_i0(OpTable& ops) {
  add_named_unary<BesselI0, false>(
      ops, named_unary("i0").doc("out = I0(x), the modified Bessel function of order 0, element by element."),
      "x@GRAD = out@GRAD I1(x).");
}

}  // namespace paddle_mini

// i1: out = I1(x), the modified Bessel function of order 1
#include "math/bessel.h"
#include "ops/family/named_unary.h"

namespace paddle_mini {
namespace {

struct BesselI1 {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return static_cast<decltype(number)>(bessel_i(1, number)); });
  }
  template <class V>
  PM_HD V operator()(V x, V out, V gradient) const {
    V even = each_lane(x, [](auto number) { return static_cast<decltype(number)>(bessel_i(0, number)); });
    return gradient * select(abs(x) > V(0), even - out / x, V(0.5));
  }
};

}  // namespace

void define_i1(OpTable& ops) {
  add_named_unary<BesselI1, true>(
      ops, named_unary("i1").doc("out = I1(x), the modified Bessel function of order 1, element by element."),
      "x@GRAD = out@GRAD (I0(x) - out / x), at 0 out@GRAD / 2.");
}

}  // namespace paddle_mini

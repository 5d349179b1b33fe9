// i0e: out = exp(-|x|) I0(x), the scaled modified Bessel function of order 0
#include "math/bessel.h"
#include "ops/family/named_unary.h"

namespace paddle_mini {
namespace {

struct BesselI0Scaled {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return static_cast<decltype(number)>(scaled_bessel_i(0, number)); });
  }
  template <class V>
  PM_HD V operator()(V x, V out, V gradient) const {
    V slope = each_lane(x, [](auto number) { return static_cast<decltype(number)>(scaled_bessel_i(1, number)); });
    return gradient * (slope - sign(x) * out);
  }
};

}  // namespace

void define_i0e(OpTable& ops) {
  add_named_unary<BesselI0Scaled, true>(
      ops,
      named_unary("i0e").doc(
          "out = exp(-|x|) I0(x), the scaled modified Bessel function of order 0, element by element."),
      "x@GRAD = out@GRAD (exp(-|x|) I1(x) - sign(x) out).");
}

}  // namespace paddle_mini

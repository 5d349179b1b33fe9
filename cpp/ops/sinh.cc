// sinh: Out = sinh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Sinh {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::sinh(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * each_lane(x, [](auto number) { return std::cosh(number); });
  }
};

}  // namespace

void define_sinh(OpTable& ops) {
  add_unary<Sinh, Saved::X>(ops, unary("sinh").doc("Out = sinh(X), the hyperbolic sine, element by element."),
                            "X@GRAD = Out@GRAD cosh(X).");
}

}  // namespace paddle_mini

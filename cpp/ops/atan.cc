// atan: Out = arctan(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Atan : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::atan(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / (V(1) + x * x);
  }
};

}  // namespace

void define_atan(OpTable& ops) {
  add_unary<Atan, Saved::X>(ops, unary("atan").doc("Out = arctan(X), in radians, element by element."),
                            "X@GRAD = Out@GRAD / (1 + X^2).");
}

}  // namespace paddle_mini

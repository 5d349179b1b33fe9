// tan: Out = tan(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Tan : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::tan(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V side = cosine(x);
    return gradient / (side * side);
  }
};

}  // namespace

void define_tan(OpTable& ops) {
  add_unary<Tan, Saved::X>(ops, unary("tan").doc("Out = tan(X), X in radians, element by element."),
                           "X@GRAD = Out@GRAD / cos(X)^2.");
}

}  // namespace paddle_mini

// acosh: Out = arcosh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Acosh : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::acosh(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / (sqrt(x - V(1)) * sqrt(x + V(1)));  // not the root of the product, which has another branch
  }
};

}  // namespace

void define_acosh(OpTable& ops) {
  add_unary<Acosh, Saved::X>(ops,
                             unary("acosh").doc("Out = arcosh(X), the inverse of the hyperbolic cosine; NaN below 1."),
                             "X@GRAD = Out@GRAD / (sqrt(X - 1) sqrt(X + 1)).");
}

}  // namespace paddle_mini

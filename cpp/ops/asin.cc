// asin: Out = arcsin(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Asin : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::asin(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / sqrt(V(1) - x * x);
  }
};

}  // namespace

void define_asin(OpTable& ops) {
  add_unary<Asin, Saved::X>(ops, unary("asin").doc("Out = arcsin(X), in radians; NaN outside [-1, 1]."),
                            "X@GRAD = Out@GRAD / sqrt(1 - X^2).");
}

}  // namespace paddle_mini

// atanh: Out = artanh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Atanh : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::atanh(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / (V(1) - x * x);
  }
};

}  // namespace

void define_atanh(OpTable& ops) {
  add_unary<Atanh, Saved::X>(
      ops, unary("atanh").doc("Out = artanh(X), the inverse of the hyperbolic tangent; NaN outside [-1, 1]."),
      "X@GRAD = Out@GRAD / (1 - X^2).");
}

}  // namespace paddle_mini

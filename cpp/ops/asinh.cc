// asinh: Out = arsinh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Asinh : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::asinh(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / sqrt(x * x + V(1));
  }
};

}  // namespace

void define_asinh(OpTable& ops) {
  add_unary<Asinh, Saved::X>(
      ops, unary("asinh").doc("Out = arsinh(X), the inverse of the hyperbolic sine, element by element."),
      "X@GRAD = Out@GRAD / sqrt(X^2 + 1).");
}

}  // namespace paddle_mini

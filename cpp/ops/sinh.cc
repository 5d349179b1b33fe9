// sinh: Out = sinh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Sinh : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return hyperbolic_sine(x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * hyperbolic_cosine(x);
  }
};

}  // namespace

void define_sinh(OpTable& ops) {
  add_unary<Sinh, Saved::X>(ops, unary("sinh").doc("Out = sinh(X), the hyperbolic sine, element by element."),
                            "X@GRAD = Out@GRAD cosh(X).");
}

}  // namespace paddle_mini

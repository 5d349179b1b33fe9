// cosh: Out = cosh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Cosh : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return hyperbolic_cosine(x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * hyperbolic_sine(x);
  }
};

}  // namespace

void define_cosh(OpTable& ops) {
  add_unary<Cosh, Saved::X>(ops, unary("cosh").doc("Out = cosh(X), the hyperbolic cosine, element by element."),
                            "X@GRAD = Out@GRAD sinh(X).");
}

}  // namespace paddle_mini

// erf: Out = the error function of X
#include "math/error_function.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Erf {
  template <class V>
  PM_HD V operator()(V x) const {
    return erf(x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * V(1.1283791670955126) * exp(-x * x);
  }
};

}  // namespace

void define_erf(OpTable& ops) {
  add_unary<Erf, Saved::X>(
      ops,
      unary("erf").doc("Out = erf(X), 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to X, element by "
                       "element."),
      "X@GRAD = Out@GRAD 2 / sqrt(pi) exp(-X^2).");
}

}  // namespace paddle_mini

// sin: Out = sin(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Sin : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return sine(x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * cosine(x);
  }
};

}  // namespace

void define_sin(OpTable& ops) {
  add_unary<Sin, Saved::X>(ops, unary("sin").doc("Out = sin(X), X in radians, element by element."),
                           "X@GRAD = Out@GRAD cos(X).");
}

}  // namespace paddle_mini

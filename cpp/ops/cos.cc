// cos: Out = cos(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Cos : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return cosine(x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return -gradient * sine(x);
  }
};

}  // namespace

void define_cos(OpTable& ops) {
  add_unary<Cos, Saved::X>(ops, unary("cos").doc("Out = cos(X), X in radians, element by element."),
                           "X@GRAD = -Out@GRAD sin(X).");
}

}  // namespace paddle_mini

// sqrt: Out = the square root of X
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Sqrt {
  template <class V>
  PM_HD V operator()(V x) const {
    return sqrt(x);
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return V(number_of<V>(0.5)) * gradient / out;
  }
};

}  // namespace

void define_sqrt(OpTable& ops) {
  add_unary<Sqrt, Saved::Out>(
      ops, unary("sqrt").doc("Out = the square root of X, element by element; NaN for a negative number."),
      "X@GRAD = Out@GRAD / (2 Out).");
}

}  // namespace paddle_mini

// square: Out = X^2
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Square {
  template <class V>
  PM_HD V operator()(V x) const {
    return x * x;
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return V(2) * x * gradient;
  }
};

}  // namespace

void define_square(OpTable& ops) {
  add_unary<Square, Saved::X, int32_t, int64_t>(ops, unary("square").doc("Out = X^2, element by element."),
                                                "X@GRAD = 2 X Out@GRAD.");
}

}  // namespace paddle_mini

// reciprocal: Out = 1 / X
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Reciprocal {
  template <class V>
  PM_HD V operator()(V x) const {
    return V(1) / x;
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return -gradient * out * out;
  }
};

}  // namespace

void define_reciprocal(OpTable& ops) {
  add_unary<Reciprocal, Saved::Out>(ops, unary("reciprocal").doc("Out = 1 / X, element by element."),
                                    "X@GRAD = -Out@GRAD Out^2.");
}

}  // namespace paddle_mini

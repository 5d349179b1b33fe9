// tanh: Out = (exp(X) - exp(-X)) / (exp(X) + exp(-X))
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Tanh {
  template <class V>
  PM_HD V operator()(V x) const {
    return tanh(x);
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return gradient * (V(1) - out * out);
  }
};

}  // namespace

void define_tanh(OpTable& ops) {
  add_unary<Tanh, Saved::Out>(ops, unary("tanh").doc("Out = tanh(X), the hyperbolic tangent, element by element."),
                              "X@GRAD = Out@GRAD (1 - Out^2).");
}

}  // namespace paddle_mini

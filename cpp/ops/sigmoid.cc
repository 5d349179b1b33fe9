// sigmoid: Out = 1 / (1 + exp(-X))
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Sigmoid : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return V(1) / (V(1) + exp(-x));
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return gradient * out * (V(1) - out);
  }
};

}  // namespace

void define_sigmoid(OpTable& ops) {
  add_unary<Sigmoid, Saved::Out>(ops, unary("sigmoid").doc("Out = 1 / (1 + exp(-X)), element by element."),
                                 "X@GRAD = Out@GRAD Out (1 - Out).");
}

}  // namespace paddle_mini

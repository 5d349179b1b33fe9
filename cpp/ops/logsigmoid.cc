// logsigmoid: Out = log(1 / (1 + exp(-X)))
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

// Factoring out min(X, 0) prevents overflow.
struct Logsigmoid : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    if constexpr (is_complex_number<V>) return -log(V(1) + exp(-x));
    else return minimum(x, V(0)) - log(V(1) + exp(-abs(x)));
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / (V(1) + exp(x));
  }
};

}  // namespace

void define_logsigmoid(OpTable& ops) {
  add_unary<Logsigmoid, Saved::X>(ops, unary("logsigmoid").doc("Out = log(1 / (1 + exp(-X))), element by element."),
                                  "X@GRAD = Out@GRAD / (1 + exp(X)).");
}

}  // namespace paddle_mini

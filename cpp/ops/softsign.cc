// softsign: Out = X / (1 + |X|)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Softsign {
  template <class V>
  PM_HD V operator()(V x) const {
    return x / (V(1) + abs(x));
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V below = V(1) + abs(x);
    return gradient / (below * below);
  }
};

}  // namespace

void define_softsign(OpTable& ops) {
  add_unary<Softsign, Saved::X>(ops, unary("softsign").doc("Out = X / (1 + |X|), element by element."),
                                "X@GRAD = Out@GRAD / (1 + |X|)^2.");
}

}  // namespace paddle_mini

// rsqrt: Out = 1 / sqrt(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Rsqrt {
  template <class V>
  PM_HD V operator()(V x) const {
    return V(1) / sqrt(x);
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return gradient * V(-0.5) * out * out * out;
  }
};

}  // namespace

void define_rsqrt(OpTable& ops) {
  add_unary<Rsqrt, Saved::Out>(ops, unary("rsqrt").doc("Out = 1 / sqrt(X), element by element."),
                               "X@GRAD = -Out@GRAD Out^3 / 2.");
}

}  // namespace paddle_mini

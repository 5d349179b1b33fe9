// tanh_shrink: Out = X - tanh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct TanhShrink {
  template <class V>
  PM_HD V operator()(V x) const {
    return x - tanh(x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V t = tanh(x);
    return gradient * t * t;
  }
};

}  // namespace

void define_tanh_shrink(OpTable& ops) {
  add_unary<TanhShrink, Saved::X>(ops, unary("tanh_shrink").doc("Out = X - tanh(X), element by element."),
                                  "X@GRAD = Out@GRAD tanh(X)^2.");
}

}  // namespace paddle_mini

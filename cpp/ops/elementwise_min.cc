// elementwise_min: Out = min(X, Y), with Y broadcast over X
#include "ops/family/elementwise.h"

namespace paddle_mini {
namespace {

struct Minimum {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return minimum(x, y);
  }
};

struct WhereXIsLess {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return select(x < y, gradient, V(0));
  }
};

struct WhereXIsNotLess {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return select(x >= y, gradient, V(0));
  }
};

}  // namespace

void define_elementwise_min(OpTable& ops) {
  add_binary<Minimum, WhereXIsLess, WhereXIsNotLess>(
      ops,
      binary("elementwise_min")
          .doc("Out = min(X, Y); NaN in either gives NaN. Y's dimensions lie against X's from `axis` on; a "
               "dimension of 1 is broadcast."),
      "X@GRAD = Out@GRAD where X < Y, Y@GRAD = Out@GRAD where X >= Y, else 0; each summed over the axes "
      "it was broadcast along.");
}

}  // namespace paddle_mini

// elementwise_heaviside: Out = 0 where X < 0, Y where X = 0, else 1, with Y broadcast over X
#include "ops/family/elementwise.h"

namespace paddle_mini {
namespace {

struct Heaviside {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return select(x == V(0), y, select(x > V(0), V(1), V(0)));
  }
};
struct NoSlope {
  template <class V>
  PM_HD V operator()(V, V, V) const {
    return V(0);
  }
};
struct WhereXIsZero {
  template <class V>
  PM_HD V operator()(V x, V, V gradient) const {
    return select(x == V(0), gradient, V(0));
  }
};

}  // namespace

void define_elementwise_heaviside(OpTable& ops) {
  add_binary<Heaviside, NoSlope, WhereXIsZero>(
      ops,
      binary("elementwise_heaviside")
          .doc("Out = 0 where X < 0 or X is NaN, Y where X = 0, 1 where X > 0. Y's dimensions lie against X's from "
               "`axis` on; a dimension of 1 is broadcast."),
      "X@GRAD = 0; Y@GRAD = Out@GRAD where X = 0, else 0, summed over the axes Y was broadcast along.");
}

}  // namespace paddle_mini

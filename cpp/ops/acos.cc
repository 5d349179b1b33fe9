// acos: Out = arccos(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Acos : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::acos(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return -gradient / sqrt(V(1) - x * x);
  }
};

}  // namespace

void define_acos(OpTable& ops) {
  add_unary<Acos, Saved::X>(ops, unary("acos").doc("Out = arccos(X), in radians; NaN outside [-1, 1]."),
                            "X@GRAD = -Out@GRAD / sqrt(1 - X^2).");
}

}  // namespace paddle_mini

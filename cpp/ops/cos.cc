// cos: Out = cos(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Cos {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::cos(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return -gradient * each_lane(x, [](auto number) { return std::sin(number); });
  }
};

}  // namespace

void define_cos(OpTable& ops) {
  add_unary<Cos, Saved::X>(ops, unary("cos").doc("Out = cos(X), X in radians, element by element."),
                           "X@GRAD = -Out@GRAD sin(X).");
}

}  // namespace paddle_mini

// angle: Out = the angle of X in the complex plane, 0 or pi
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Angle {
  template <class V>
  PM_HD V operator()(V x) const {
    return select(x < V(0), V(3.14159265358979323846), V(0));
  }
  template <class V>
  PM_HD V operator()(V, V) const {
    return V(0);
  }
};

}  // namespace

void define_angle(OpTable& ops) {
  add_unary<Angle, Saved::X>(
      ops, unary("angle").doc("Out = pi where X < 0, else 0: the angle of a real number in the complex plane."),
      "X@GRAD = 0.");
}

}  // namespace paddle_mini

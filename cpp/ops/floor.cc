// floor: Out = the greatest integer not above X
#include "ops/family/rounding.h"

namespace paddle_mini {
namespace {

struct Floor {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::floor(number); });
  }
};

}  // namespace

void define_floor(OpTable& ops) {
  add_rounding<Floor, float, double>(
      ops, unary("floor").doc(
               "Out = the largest integer that is at most X, element by element; NaN and infinity stay unchanged."));
}

}  // namespace paddle_mini

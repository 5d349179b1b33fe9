// ceil: Out = the smallest integer not below X
#include "ops/family/rounding.h"

namespace paddle_mini {
namespace {

struct Ceil {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::ceil(number); });
  }
};

}  // namespace

void define_ceil(OpTable& ops) {
  add_rounding<Ceil, float, double>(
      ops, unary("ceil").doc(
               "Out = the smallest integer that is at least X, element by element; NaN and infinity stay unchanged."));
}

}  // namespace paddle_mini

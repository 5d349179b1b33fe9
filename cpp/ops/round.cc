// round: Out = the integer nearest to X, halves away from zero
#include "ops/family/rounding.h"

namespace paddle_mini {
namespace {

struct Round {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::round(number); });
  }
};

}  // namespace

void define_round(OpTable& ops) {
  add_rounding<Round, float, double>(ops,
                                     unary("round").doc("Out = X rounded to the nearest integer, halves away from "
                                                        "zero, element by element; NaN and infinity stay unchanged."));
}

}  // namespace paddle_mini

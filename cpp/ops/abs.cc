// abs: Out = |X|
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Abs {
  template <class V>
  PM_HD V operator()(V x) const {
    return abs(x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * sign(x);
  }
};

}  // namespace

void define_abs(OpTable& ops) {
  add_unary<Abs, Saved::X, int32_t, int64_t>(ops, unary("abs").doc("Out = |X|, element by element."),
                                             "X@GRAD = Out@GRAD sign(X): 0 where X is 0.");
}

}  // namespace paddle_mini

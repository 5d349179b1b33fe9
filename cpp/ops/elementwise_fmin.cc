// elementwise_fmin: Out = min(X, Y), ignoring a NaN if the other one is a number, with Y broadcast over X
#include "ops/family/number_choice.h"

namespace paddle_mini {
namespace {

struct LessOrEqual {
  template <class V>
  PM_HD auto operator()(V x, V y) const {
    return x <= y;
  }
};

}  // namespace

void define_elementwise_fmin(OpTable& ops) {
  add_binary<ChosenNumber<LessOrEqual>, WhereXIsChosen<LessOrEqual>, WhereYIsChosen<LessOrEqual>>(
      ops,
      binary("elementwise_fmin")
          .doc("Out = min(X, Y); where one is NaN, the other. Y's dimensions lie against X's from `axis` on; a "
               "dimension of 1 is broadcast."),
      "X@GRAD = Out@GRAD where X <= Y or Y is NaN, Y@GRAD = Out@GRAD elsewhere, else 0; each summed over "
      "the axes it was broadcast along.");
}

}  // namespace paddle_mini

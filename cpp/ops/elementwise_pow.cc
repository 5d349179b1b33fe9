// elementwise_pow: Out = X to the power of Y, with Y broadcast over X
#include "ops/family/elementwise.h"
#include "math/power.h"

namespace paddle_mini {
namespace {

struct Power {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return power(x, y);
  }
};

struct SlopeAlongX {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return gradient * y * power(x, y - V(1));
  }
};

struct SlopeAlongY {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return gradient * log(x) * power(x, y);
  }
};

}  // namespace

void define_elementwise_pow(OpTable& ops) {
  add_binary<Power, SlopeAlongX, SlopeAlongY>(
      ops,
      binary("elementwise_pow")
          .doc("Out = X to the power of Y. Y's dimensions lie against X's from `axis` on; a dimension of 1 "
               "is broadcast. Products of integers wrap around; an integer to a power below 0 has its "
               "fraction cut off, and is 0 for X = 0."),
      "X@GRAD = Out@GRAD Y X^(Y - 1) and Y@GRAD = Out@GRAD log(X) X^Y, each summed over the axes it was "
      "broadcast along. Y@GRAD is NaN where X is 0 and Y > 0, as in PaddlePaddle.");
}

}  // namespace paddle_mini

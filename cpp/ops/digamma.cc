// digamma: Out = the derivative of log gamma(X)
#include "math/gamma_functions.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Digamma {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return static_cast<decltype(number)>(digamma_of(number)); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * each_lane(x, [](auto number) { return static_cast<decltype(number)>(polygamma_of(1, number)); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient, V second) const {  // its derivative
    return second * gradient *
           each_lane(x, [](auto number) { return static_cast<decltype(number)>(polygamma_of(2, number)); });
  }
};

}  // namespace

void define_digamma(OpTable& ops) {
  add_unary<Digamma, Saved::X>(
      ops, unary("digamma").doc("Out = the derivative of log gamma(X), element by element; NaN at 0, -1, -2, ..."),
      "X@GRAD = Out@GRAD polygamma(1, X).");
}

}  // namespace paddle_mini

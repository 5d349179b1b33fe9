// lgamma: Out = log |gamma(X)|
#include "math/gamma_functions.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct LogGamma {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return log_gamma(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * each_lane(x, [](auto number) { return static_cast<decltype(number)>(digamma_of(number)); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient, V second) const {  // its derivative
    return second * gradient *
           each_lane(x, [](auto number) { return static_cast<decltype(number)>(polygamma_of(1, number)); });
  }
};

}  // namespace

void define_lgamma(OpTable& ops) {
  add_unary<LogGamma, Saved::X>(
      ops, unary("lgamma").doc("Out = log |gamma(X)|, element by element; infinite at 0, -1, -2, ..."),
      "X@GRAD = Out@GRAD digamma(X).");
}

}  // namespace paddle_mini

// polygamma: out = the n-th derivative of digamma(x)
#include "math/gamma_functions.h"
#include "ops/family/named_unary.h"

namespace paddle_mini {
namespace {

struct Polygamma {
  int n;

  explicit Polygamma(const KernelInit& init) : n(init.attr<int32_t>("n")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x,
                     [order = n](auto number) { return static_cast<decltype(number)>(polygamma_of(order, number)); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * each_lane(x, [order = n + 1](auto number) {
             return static_cast<decltype(number)>(polygamma_of(order, number));
           });
  }
};

}  // namespace

void define_polygamma(OpTable& ops) {
  add_named_unary<Polygamma, false>(
      ops,
      named_unary("polygamma")
          .doc("out = the n-th derivative of digamma(x), element by element: (-1)^(n+1) n! times the sum of (x + "
               "k)^-(n+1) over k = 0, 1, ...")
          .required_attr("n", AttrType::Int, "the order of the derivative; 0: digamma", between(0, 100)),
      "x@GRAD = out@GRAD polygamma(n + 1, x).");
}

}  // namespace paddle_mini

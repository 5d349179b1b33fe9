// softplus: Out = log(1 + exp(beta X)) / beta
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Softplus : Analytic {
  float beta, threshold;

  explicit Softplus(const KernelInit& init)
      : beta(init.attr<float>("beta")), threshold(init.attr<float>("threshold")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    V scaled = x * V(beta);
    if constexpr (is_complex_number<V>) return log(V(1) + exp(scaled)) / V(beta);
    else return select(scaled > V(threshold), x, log(V(1) + exp(scaled)) / V(beta));
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V scaled = x * V(beta);
    if constexpr (is_complex_number<V>) return gradient / (V(1) + exp(-scaled));
    else return select(scaled > V(threshold), gradient, gradient / (V(1) + exp(-scaled)));
  }
};

}  // namespace

void define_softplus(OpTable& ops) {
  add_unary<Softplus, Saved::X>(
      ops,
      unary("softplus")
          .doc("Out = log(1 + exp(beta X)) / beta, element by element; Out = X where beta X > "
               "threshold, of real numbers.")
          .attr("beta", 1.0f, "factor of X; not 0", not_zero)
          .attr("threshold", 20.0f, "where beta X is above it, Out = X"),
      "X@GRAD = Out@GRAD / (1 + exp(-beta X)), and Out@GRAD where beta X > threshold.");
}

}  // namespace paddle_mini

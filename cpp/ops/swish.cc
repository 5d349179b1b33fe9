// swish: Out = X / (1 + exp(-beta X))
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Swish {
  float beta;

  explicit Swish(const KernelInit& init) : beta(init.attr<float>("beta")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return x / (V(1) + exp(V(-beta) * x));
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V sigmoid = V(1) / (V(1) + exp(V(-beta) * x));
    return gradient * sigmoid * (V(1) + V(beta) * x * (V(1) - sigmoid));
  }
};

}  // namespace

void define_swish(OpTable& ops) {
  add_unary<Swish, Saved::X>(ops,
                             unary("swish")
                                 .doc("Out = X / (1 + exp(-beta X)), element by element.")
                                 .attr("beta", 1.0f, "factor of X inside exp"),
                             "X@GRAD = Out@GRAD s (1 + beta X (1 - s)), where s = 1 / (1 + exp(-beta X)).");
}

}  // namespace paddle_mini

// mish: Out = X tanh(log(1 + exp(X)))
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Mish {
  float threshold;

  explicit Mish(const KernelInit& init) : threshold(init.attr<float>("threshold")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return x * tanh(select(x > V(threshold), x, log(V(1) + exp(x))));
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V t = tanh(select(x > V(threshold), x, log(V(1) + exp(x))));
    return gradient * (t + x * (V(1) - t * t) / (V(1) + exp(-x)));
  }
};

}  // namespace

void define_mish(OpTable& ops) {
  add_unary<Mish, Saved::X>(ops,
                            unary("mish")
                                .doc("Out = X tanh(log(1 + exp(X))), element by element.")
                                .attr("threshold", 20.0f, "where X is above it, log(1 + exp(X)) is replaced by X"),
                            "X@GRAD = Out@GRAD (t + X (1 - t^2) / (1 + exp(-X))), where t = Out / X = tanh(log(1 + "
                            "exp(X))).");
}

}  // namespace paddle_mini

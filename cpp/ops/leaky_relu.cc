// leaky_relu: Out = X where X > 0, else alpha X
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct LeakyRelu {
  float alpha;

  explicit LeakyRelu(const KernelInit& init) : alpha(init.attr<float>("alpha")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return select(x > V(0), x, V(alpha) * x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return select(x < V(0), V(alpha) * gradient, gradient);
  }
};

}  // namespace

void define_leaky_relu(OpTable& ops) {
  add_unary<LeakyRelu, Saved::X>(ops,
                                 unary("leaky_relu")
                                     .doc("Out = X where X > 0, else alpha X, element by element.")
                                     .attr("alpha", 0.02f, "factor of negative elements"),
                                 "X@GRAD = Out@GRAD where X >= 0, else alpha Out@GRAD.");
}

}  // namespace paddle_mini

// celu: Out = X where X >= 0, else alpha (exp(X / alpha) - 1)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Celu {
  float alpha;

  explicit Celu(const KernelInit& init) : alpha(init.attr<float>("alpha")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return select(x < V(0), V(alpha) * (exp(x / V(alpha)) - V(1)), x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return select(x > V(0), gradient, gradient * exp(x / V(alpha)));
  }
};

}  // namespace

void define_celu(OpTable& ops) {
  add_unary<Celu, Saved::X>(ops,
                            unary("celu")
                                .doc("Out = X where X >= 0, else alpha (exp(X / alpha) - 1), element by element.")
                                .attr("alpha", 1.0f, "-alpha is the lower bound of Out; not 0", not_zero),
                            "X@GRAD = Out@GRAD where X > 0, else exp(X / alpha) Out@GRAD.");
}

}  // namespace paddle_mini

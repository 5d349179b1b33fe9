// selu: Out = scale X where X > 0, else scale alpha (exp(X) - 1)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Selu {
  float scale, alpha;

  explicit Selu(const KernelInit& init) : scale(init.attr<float>("scale")), alpha(init.attr<float>("alpha")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return V(scale) * select(x > V(0), x, V(alpha) * (exp(x) - V(1)));
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return select(out > V(0), V(scale) * gradient, gradient * (out + V(scale) * V(alpha)));
  }
};

}  // namespace

void define_selu(OpTable& ops) {
  add_unary<Selu, Saved::Out>(ops,
                              unary("selu")
                                  .doc("Out = scale X where X > 0, else scale alpha (exp(X) - 1), element by element.")
                                  .attr("scale", 1.0507009873554804934193349852946f, "factor of all elements")
                                  .attr("alpha", 1.6732632423543772848170429916717f,
                                        "-alpha is the lower bound of Out / scale"),
                              "X@GRAD = scale Out@GRAD where Out > 0, else Out@GRAD (Out + scale alpha).");
}

}  // namespace paddle_mini

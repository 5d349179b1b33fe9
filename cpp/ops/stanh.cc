// stanh: Out = scale_b tanh(scale_a X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Stanh {
  float inner, outer;

  explicit Stanh(const KernelInit& init) : inner(init.attr<float>("scale_a")), outer(init.attr<float>("scale_b")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return V(outer) * tanh(V(inner) * x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V t = tanh(V(inner) * x);
    return gradient * V(inner) * V(outer) * (V(1) - t * t);
  }
};

}  // namespace

void define_stanh(OpTable& ops) {
  add_unary<Stanh, Saved::X>(ops,
                             unary("stanh")
                                 .doc("Out = scale_b tanh(scale_a X), element by element.")
                                 .attr("scale_a", 0.67f, "factor of X")
                                 .attr("scale_b", 1.7159f, "factor of Out"),
                             "X@GRAD = Out@GRAD scale_a scale_b (1 - tanh(scale_a X)^2).");
}

}  // namespace paddle_mini

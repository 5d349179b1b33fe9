// hard_sigmoid: Out = min(max(slope X + offset, 0), 1)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct HardSigmoid {
  float slope, offset;

  explicit HardSigmoid(const KernelInit& init) : slope(init.attr<float>("slope")), offset(init.attr<float>("offset")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return minimum(maximum(x * V(slope) + V(offset), V(0)), V(1));
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return select(out > V(0), select(out < V(1), V(slope) * gradient, V(0)), V(0));
  }
};

}  // namespace

void define_hard_sigmoid(OpTable& ops) {
  add_unary<HardSigmoid, Saved::Out>(ops,
                                     unary("hard_sigmoid")
                                         .doc("Out = min(max(slope X + offset, 0), 1), element by element.")
                                         .attr("slope", 0.2f, "factor of X")
                                         .attr("offset", 0.5f, "the value of Out for X = 0"),
                                     "X@GRAD = slope Out@GRAD where 0 < Out < 1, else 0.");
}

}  // namespace paddle_mini

// hard_swish: Out = X min(max(X + offset, 0), threshold) / scale
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct HardSwish {
  float threshold, scale, offset;

  explicit HardSwish(const KernelInit& init)
      : threshold(init.attr<float>("threshold")), scale(init.attr<float>("scale")), offset(init.attr<float>("offset")) {
  }

  template <class V>
  PM_HD V operator()(V x) const {
    return x * minimum(maximum(x + V(offset), V(0)), V(threshold)) / V(scale);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V moved = x + V(offset);
    V slope = select(moved < V(threshold), x + moved, V(threshold)) / V(scale);
    return select(moved > V(0), slope * gradient, V(0));
  }
};

}  // namespace

void define_hard_swish(OpTable& ops) {
  add_unary<HardSwish, Saved::X>(ops,
                                 unary("hard_swish")
                                     .doc("Out = X min(max(X + offset, 0), threshold) / scale, element by element.")
                                     .attr("threshold", 6.0f, "upper bound of X + offset in the factor of X")
                                     .attr("scale", 6.0f, "divisor of the factor of X; not 0", not_zero)
                                     .attr("offset", 3.0f, "the factor is 0 where X < -offset"),
                                 "X@GRAD = Out@GRAD times 0 where X + offset <= 0, (2 X + offset) / scale where X + "
                                 "offset < threshold, else threshold / scale.");
}

}  // namespace paddle_mini

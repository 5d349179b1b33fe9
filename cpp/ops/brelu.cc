// brelu: Out = min(max(X, t_min), t_max)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Brelu {
  float low, high;

  explicit Brelu(const KernelInit& init) : low(init.attr<float>("t_min")), high(init.attr<float>("t_max")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return minimum(maximum(x, V(low)), V(high));
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return select(x > V(low), select(x < V(high), gradient, V(0)), V(0));
  }
};

}  // namespace

void define_brelu(OpTable& ops) {
  add_unary<Brelu, Saved::X>(ops,
                             unary("brelu")
                                 .doc("Out = min(max(X, t_min), t_max), element by element.")
                                 .attr("t_min", 0.0f, "the minimum of Out")
                                 .attr("t_max", 24.0f, "the maximum of Out"),
                             "X@GRAD = Out@GRAD where t_min < X < t_max, else 0.");
}

}  // namespace paddle_mini

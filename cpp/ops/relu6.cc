// relu6: Out = min(max(X, 0), threshold)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Relu6 {
  float threshold;

  explicit Relu6(const KernelInit& init) : threshold(init.attr<float>("threshold")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return minimum(maximum(x, V(0)), V(threshold));
  }
  double lower() const { return 0; }
  double upper() const { return threshold; }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return select(out > V(0), select(out < V(threshold), gradient, V(0)), V(0));
  }
};

}  // namespace

void define_relu6(OpTable& ops) {
  add_unary<Relu6, Saved::Out>(ops,
                               unary("relu6")
                                   .doc("Out = min(max(X, 0), threshold), element by element.")
                                   .attr("threshold", 6.0f, "the maximum of Out"),
                               "X@GRAD = Out@GRAD where 0 < Out < threshold, else 0.");
}

}  // namespace paddle_mini

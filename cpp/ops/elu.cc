// elu: Out = X where X >= 0, else alpha (exp(X) - 1)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Elu {
  float alpha;

  explicit Elu(const KernelInit& init) : alpha(init.attr<float>("alpha")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return select(x < V(0), V(alpha) * (exp(x) - V(1)), x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return select(x > V(0), gradient, gradient * V(alpha) * exp(x));
  }
};

}  // namespace

void define_elu(OpTable& ops) {
  ops.add(unary("elu")
              .doc("Out = X where X >= 0, else alpha (exp(X) - 1), element by element.")
              .attr("alpha", 1.0f, "-alpha is the lower bound of Out")
              .gradient("elu_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .kernels<UnaryKernel<Elu>::For, float, double>());
  ops.add(unary_gradient(ops, "elu")
              .doc("X@GRAD = Out@GRAD where X > 0, else alpha exp(X) Out@GRAD.")
              .optional_input("Out", "from the forward operator; not read")
              .kernels<UnaryGradKernel<Elu, Saved::X>::For, float, double>());
  add_unary_second<Elu, Saved::X>(ops, "elu");
}

}  // namespace paddle_mini

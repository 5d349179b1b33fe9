// elu: Out = X where X >= 0, else alpha (exp(X) - 1)
#include "math/attr_unary.h"

namespace paddle_mini {
namespace {

struct Attributes {
  float alpha;

  explicit Attributes(const KernelInit& init) : alpha(init.attr<float>("alpha")) {}
};

struct Elu : Attributes {
  using Attributes::Attributes;

  template <class V>
  V operator()(V x) const { return select(x < V(0), V(alpha) * (exp(x) - V(1)), x); }
};

struct EluGrad : Attributes {
  using Attributes::Attributes;

  template <class V>
  V operator()(V x, V gradient) const { return select(x > V(0), gradient, gradient * V(alpha) * exp(x)); }
};

}  // namespace

void define_elu(OpTable& ops) {
  ops.add(unary("elu")
              .doc("Out = X where X >= 0, else alpha (exp(X) - 1), element by element.")
              .attr("alpha", 1.0f, "how far below 0 Out can get")
              .gradient("elu_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .kernels<AttrUnaryKernel<Elu>::For, float, double>());
  ops.add(unary_gradient("elu_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD where X > 0, else alpha exp(X) Out@GRAD.")
              .attr("alpha", 1.0f, "as in the forward operator")
              .optional_input("Out", "of the forward operator; not read")
              .kernels<AttrUnaryGradKernel<EluGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

// leaky_relu: Out = X where X > 0, else alpha X
#include "ops/family/attr_unary.h"

namespace paddle_mini {
namespace {

struct LeakyReluAttributes {
  float alpha;

  explicit LeakyReluAttributes(const KernelInit& init) : alpha(init.attr<float>("alpha")) {}
};

struct LeakyRelu : LeakyReluAttributes {
  using LeakyReluAttributes::LeakyReluAttributes;

  template <class V>
  PM_HD V operator()(V x) const {
    return select(x > V(0), x, V(alpha) * x);
  }
};

struct LeakyReluGrad : LeakyReluAttributes {
  using LeakyReluAttributes::LeakyReluAttributes;

  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return select(x < V(0), V(alpha) * gradient, gradient);
  }
};

}  // namespace

void define_leaky_relu(OpTable& ops) {
  ops.add(unary("leaky_relu")
              .doc("Out = X where X > 0, else alpha X, element by element.")
              .attr("alpha", 0.02f, "factor of what is below 0")
              .gradient("leaky_relu_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<AttrUnaryKernel<LeakyRelu>::For, float, double>());
  ops.add(unary_gradient("leaky_relu_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD where X >= 0, else alpha Out@GRAD.")
              .attr("alpha", 0.02f, "as in the forward operator")
              .on_gpu()
              .kernels<AttrUnaryGradKernel<LeakyReluGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

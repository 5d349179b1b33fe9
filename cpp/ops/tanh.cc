// tanh: Out = (exp(X) - exp(-X)) / (exp(X) + exp(-X))
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Tanh {
  template <class V>
  PM_HD V operator()(V x) const {
    return tanh(x);
  }
};

struct TanhGrad {
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return gradient * (V(1) - out * out);
  }
};

}  // namespace

void define_tanh(OpTable& ops) {
  ops.add(unary("tanh")
              .doc("The hyperbolic tangent, element by element.")
              .gradient("tanh_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Tanh>::For, float, double>());
  ops.add(unary_gradient("tanh_grad", Keeps::Out)
              .doc("X@GRAD = Out@GRAD (1 - Out^2).")
              .on_gpu()
              .kernels<UnaryGradKernel<TanhGrad, Keeps::Out>::For, float, double>());
}

}  // namespace paddle_mini

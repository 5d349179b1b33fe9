// asinh: Out = arsinh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Asinh {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::asinh(number); });
  }
};

struct AsinhGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / sqrt(x * x + V(1));
  }
};

}  // namespace

void define_asinh(OpTable& ops) {
  ops.add(unary("asinh")
              .doc("Out = arsinh(X), the inverse of the hyperbolic sine, element by element.")
              .gradient("asinh_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Asinh>::For, float, double>());
  ops.add(unary_gradient("asinh_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD / sqrt(X^2 + 1).")
              .on_gpu()
              .kernels<UnaryGradKernel<AsinhGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

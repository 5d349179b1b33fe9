// asin: Out = arcsin(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Asin {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::asin(number); });
  }
};

struct AsinGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / sqrt(V(1) - x * x);
  }
};

}  // namespace

void define_asin(OpTable& ops) {
  ops.add(unary("asin")
              .doc("Out = arcsin(X), in radians; NaN outside [-1, 1].")
              .gradient("asin_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Asin>::For, float, double>());
  ops.add(unary_gradient("asin_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD / sqrt(1 - X^2).")
              .on_gpu()
              .kernels<UnaryGradKernel<AsinGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

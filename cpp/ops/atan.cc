// atan: Out = arctan(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Atan {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::atan(number); });
  }
};

struct AtanGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / (V(1) + x * x);
  }
};

}  // namespace

void define_atan(OpTable& ops) {
  ops.add(unary("atan")
              .doc("Out = arctan(X), in radians, element by element.")
              .gradient("atan_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Atan>::For, float, double>());
  ops.add(unary_gradient("atan_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD / (1 + X^2).")
              .on_gpu()
              .kernels<UnaryGradKernel<AtanGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

// acos: Out = arccos(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Acos {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::acos(number); });
  }
};

struct AcosGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return -gradient / sqrt(V(1) - x * x);
  }
};

}  // namespace

void define_acos(OpTable& ops) {
  ops.add(unary("acos")
              .doc("Out = arccos(X), in radians; NaN outside [-1, 1].")
              .gradient("acos_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Acos>::For, float, double>());
  ops.add(unary_gradient("acos_grad", Keeps::X)
              .doc("X@GRAD = -Out@GRAD / sqrt(1 - X^2).")
              .on_gpu()
              .kernels<UnaryGradKernel<AcosGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

// cos: Out = cos(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Cos {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::cos(number); });
  }
};

struct CosGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return -gradient * each_lane(x, [](auto number) { return std::sin(number); });
  }
};

}  // namespace

void define_cos(OpTable& ops) {
  ops.add(unary("cos")
              .doc("Out = cos(X), X in radians, element by element.")
              .gradient("cos_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Cos>::For, float, double>());
  ops.add(unary_gradient("cos_grad", Keeps::X)
              .doc("X@GRAD = -Out@GRAD sin(X).")
              .on_gpu()
              .kernels<UnaryGradKernel<CosGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

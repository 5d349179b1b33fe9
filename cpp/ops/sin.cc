// sin: Out = sin(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Sin {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::sin(number); });
  }
};

struct SinGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * each_lane(x, [](auto number) { return std::cos(number); });
  }
};

}  // namespace

void define_sin(OpTable& ops) {
  ops.add(unary("sin")
              .doc("Out = sin(X), X in radians, element by element.")
              .gradient("sin_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Sin>::For, float, double>());
  ops.add(unary_gradient("sin_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD cos(X).")
              .on_gpu()
              .kernels<UnaryGradKernel<SinGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

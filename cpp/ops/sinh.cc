// sinh: Out = sinh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Sinh {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::sinh(number); });
  }
};

struct SinhGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * each_lane(x, [](auto number) { return std::cosh(number); });
  }
};

}  // namespace

void define_sinh(OpTable& ops) {
  ops.add(unary("sinh")
              .doc("Out = sinh(X), the hyperbolic sine, element by element.")
              .gradient("sinh_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Sinh>::For, float, double>());
  ops.add(unary_gradient("sinh_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD cosh(X).")
              .on_gpu()
              .kernels<UnaryGradKernel<SinhGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

// cosh: Out = cosh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Cosh {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::cosh(number); });
  }
};

struct CoshGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * each_lane(x, [](auto number) { return std::sinh(number); });
  }
};

}  // namespace

void define_cosh(OpTable& ops) {
  ops.add(unary("cosh")
              .doc("Out = cosh(X), the hyperbolic cosine, element by element.")
              .gradient("cosh_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Cosh>::For, float, double>());
  ops.add(unary_gradient("cosh_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD sinh(X).")
              .on_gpu()
              .kernels<UnaryGradKernel<CoshGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

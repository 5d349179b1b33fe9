// rsqrt: Out = 1 / sqrt(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Rsqrt {
  template <class V>
  PM_HD V operator()(V x) const {
    return V(1) / sqrt(x);
  }
};

struct RsqrtGrad {
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return gradient * V(-0.5) * out * out * out;
  }
};

}  // namespace

void define_rsqrt(OpTable& ops) {
  ops.add(unary("rsqrt")
              .doc("Out = 1 / sqrt(X), element by element.")
              .gradient("rsqrt_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Rsqrt>::For, float, double>());
  ops.add(unary_gradient("rsqrt_grad", Keeps::Out)
              .doc("X@GRAD = -Out@GRAD Out^3 / 2.")
              .on_gpu()
              .kernels<UnaryGradKernel<RsqrtGrad, Keeps::Out>::For, float, double>());
}

}  // namespace paddle_mini

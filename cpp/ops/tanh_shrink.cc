// tanh_shrink: Out = X - tanh(X)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct TanhShrink {
  template <class V>
  PM_HD V operator()(V x) const {
    return x - tanh(x);
  }
};

struct TanhShrinkGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V t = tanh(x);
    return gradient * t * t;
  }
};

}  // namespace

void define_tanh_shrink(OpTable& ops) {
  ops.add(unary("tanh_shrink")
              .doc("Out = X - tanh(X), element by element.")
              .gradient("tanh_shrink_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<TanhShrink>::For, float, double>());
  ops.add(unary_gradient("tanh_shrink_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD tanh(X)^2.")
              .on_gpu()
              .kernels<UnaryGradKernel<TanhShrinkGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

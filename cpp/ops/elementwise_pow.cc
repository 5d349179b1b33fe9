// elementwise_pow: Out = X to the power of Y, with Y broadcast over X
#include "core/widening.h"
#include "ops/family/elementwise.h"
#include "math/power.h"

namespace paddle_mini {
namespace {

struct Power {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return power(x, y);
  }
};

struct SlopeAlongX {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return gradient * y * power(x, y - V(1));
  }
};

struct SlopeAlongY {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return gradient * log(x) * power(x, y);
  }
};

}  // namespace

void define_elementwise_pow(OpTable& ops) {
  ops.add(binary("elementwise_pow")
              .doc("Out = X to the power of Y. Y's dimensions are aligned with X's from `axis` on; dimensions of 1 are "
                   "broadcast. Products of integers wrap around. An integer to a negative power is truncated towards "
                   "zero, and is 0 for X = 0.")
              .gradient("elementwise_pow_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<BinaryKernel<Power>::For, float, double, int32_t, int64_t>());
  ops.add(also({DType::Int32, DType::Int64},
               ops.gradient_of("elementwise_pow")
                   .in_place("Out@GRAD", "X@GRAD")
                   .doc("X@GRAD = Out@GRAD Y X^(Y - 1) and Y@GRAD = Out@GRAD log(X) X^Y, each summed over the axes "
                        "along which it was broadcast. Y@GRAD is NaN where X is 0 and Y > 0, as in PaddlePaddle.")
                   .kernels<BinaryGradKernel<SlopeAlongX, SlopeAlongY>::For, float, double>()));
}

}  // namespace paddle_mini

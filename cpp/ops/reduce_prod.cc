// reduce_prod: Out = the product of X over some axes
#include "ops/family/extremes.h"

namespace paddle_mini {
namespace {

struct Product {
  template <class T>
  PM_HD static T first() {
    return T(1);
  }
  template <class T>
  PM_HD T operator()(T a, T b) const {
    return a * b;
  }
};

// NaN where a factor is 0, as in PaddlePaddle.
struct ToFactor {
  template <class T>
  PM_HD T operator()(T x, T out, T gradient) const {
    return gradient * out / x;
  }
};

}  // namespace

void define_reduce_prod(OpTable& ops) {
  ops.add(fold_reduction("reduce_prod")
              .doc("Out = the product of X over the axes in `dim`; 1 if there are no elements.")
              .on_gpu()
              .kernels<FoldKernel<Product>::For, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("reduce_prod")
              .doc("X@GRAD = Out@GRAD Out / X, which is NaN where X is 0.")
              .kernels<FoldGradKernel<ToFactor>::For, float, double>());
}

}  // namespace paddle_mini

// reduce_amin: Out = the smallest elements of X over some axes; equal elements share the gradient
#include "ops/family/extreme_folds.h"

namespace paddle_mini {

void define_reduce_amin(OpTable& ops) {
  ops.add(fold_reduction("reduce_amin", false)
              .doc("Out = the minimum of X over the axes in `dim`; NaN if an element is NaN. X must have elements.")
              .on_gpu()
              .kernels<FoldKernel<Smallest>::For, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("reduce_amin")
              .doc("X@GRAD = Out@GRAD divided equally among the elements that equal Out; 0 elsewhere.")
              .kernels<SharedExtremeGradKernel, float, double>());
}

}  // namespace paddle_mini

// reduce_amax: Out = the largest elements of X over some axes; equal elements share the gradient
#include "ops/family/extreme_folds.h"

namespace paddle_mini {

void define_reduce_amax(OpTable& ops) {
  ops.add(fold_reduction("reduce_amax", false)
              .doc("Out = the maximum of X over the axes in `dim`; NaN if an element is NaN. X must have elements.")
              .on_gpu()
              .kernels<FoldKernel<Largest>::For, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("reduce_amax")
              .doc("X@GRAD = Out@GRAD divided equally among the elements that equal Out; 0 elsewhere.")
              .kernels<SharedExtremeGradKernel, float, double>());
}

}  // namespace paddle_mini

// reduce_max: Out = the largest elements of X over some axes
#include "ops/family/extreme_folds.h"

namespace paddle_mini {

void define_reduce_max(OpTable& ops) {
  ops.add(fold_reduction("reduce_max", false)
              .doc("Out = the maximum of X over the axes in `dim`; NaN if an element is NaN. X must have elements.")
              .on_gpu()
              .kernels<FoldKernel<Largest>::For, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("reduce_max")
              .doc("X@GRAD = Out@GRAD at every element that equals Out; 0 elsewhere.")
              .kernels<FoldGradKernel<ToExtreme>::For, float, double>());
}

}  // namespace paddle_mini

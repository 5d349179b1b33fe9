// reduce_max: Out = the largest elements of X over some axes
#include "ops/family/extreme_folds.h"

namespace paddle_mini {

void define_reduce_max(OpTable& ops) {
  ops.add(
      fold_reduction("reduce_max", false)
          .doc("The largest element of X over the axes in `dim`; NaN if there is one. Of no elements there is none.")
          .on_gpu()
          .kernels<FoldKernel<Largest>::For, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("reduce_max")
              .doc("X@GRAD = Out@GRAD at each element that equals Out, also at several; 0 elsewhere.")
              .kernels<FoldGradKernel<ToExtreme>::For, float, double>());
}

}  // namespace paddle_mini

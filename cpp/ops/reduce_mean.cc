// reduce_mean: Out = the mean of X over some axes
#include "core/widening.h"
#include "ops/family/of_complex.h"
#include "ops/family/reduction.h"

namespace paddle_mini {

void define_reduce_mean(OpTable& ops) {
  ops.add(also({DType::Bool, DType::Int32, DType::Int64},
               with_complex<ReduceKernel<Reduce::Mean>::For>(
                   reduction("reduce_mean")
                       .doc("Out = the mean of X over the axes in `dim`; NaN if there are no elements.")
                       .infer([](InferContext& c) { infer_reduction(c, c.input("X").dtype); })
                       .dtype_from_output("Out")
                       .gradient("reduce_mean_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
                       .on_gpu()
                       .kernels<ReduceKernel<Reduce::Mean>::For, float, double>())));
  ops.add(also({DType::Bool}, with_complex<ReduceGradKernel<Reduce::Mean>::For>(
                                  reduction_gradient(ops, "reduce_mean")
                                      .shape_only("X")
                                      .doc("X@GRAD = Out@GRAD / n, where n is the number of elements in one mean.")
                                      .kernels<ReduceGradKernel<Reduce::Mean>::For, float, double>())));
}

}  // namespace paddle_mini

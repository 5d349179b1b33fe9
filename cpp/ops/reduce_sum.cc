// reduce_sum: Out = the sum of X over some axes
#include "core/widening.h"
#include "ops/family/of_complex.h"
#include "ops/family/reduction.h"

namespace paddle_mini {

void define_reduce_sum(OpTable& ops) {
  ops.add(with_complex<ReduceKernel<Reduce::Sum>::For>(
      reduction("reduce_sum")
          .doc("Out = the sum of X over the axes in `dim`. Sums of int32 and bool are int64.")
          .infer([](InferContext& c) {
            DType x = c.input("X").dtype;
            infer_reduction(c, x == DType::Int32 || x == DType::Bool ? DType::Int64 : x);
          })
          .dtype_from_output("Out")
          .gradient("reduce_sum_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
          .on_gpu()
          .kernels<ReduceKernel<Reduce::Sum>::For, float, double, int32_t, int64_t>()));
  ops.add(also({DType::Bool, DType::Int16}, with_complex<ReduceGradKernel<Reduce::Sum>::For>(
                                                reduction_gradient(ops, "reduce_sum")
                                                    .shape_only("X")
                                                    .doc("X@GRAD = Out@GRAD of the sum to which an element was added.")
                                                    .kernels<ReduceGradKernel<Reduce::Sum>::For, float, double>())));
}

}  // namespace paddle_mini

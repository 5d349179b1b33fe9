// argsort: the sorted elements along one axis, and their original indices
#include "ops/family/top_k.h"

namespace paddle_mini {
namespace {

TopK argsort_rule(const OpDesc& op) { return {attr_of<int32_t>(op, "axis"), -1, attr_of<bool>(op, "descending")}; }

}  // namespace

void define_argsort(OpTable& ops) {
  ops.add(top_k_schema<argsort_rule>("argsort")
              .attr("axis", -1, "the axis; negative: from the end")
              .attr("descending", false, "whether the largest element comes first; otherwise the smallest does")
              .doc("Out = the elements of X sorted along one axis in ascending order; Indices = their positions in X. "
                   "NaN counts as larger than every number. The sort is stable.")
              .gradient("argsort_grad", {"X", "Indices", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<TopKKernel<argsort_rule>::For, float, double, int32_t, int64_t>());
  ops.add(top_k_gradient<argsort_rule>(ops, "argsort")
              .kernels<TopKGradKernel<argsort_rule>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

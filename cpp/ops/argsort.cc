// argsort: the sorted elements along one axis, and their original indices
#include "ops/family/best.h"

namespace paddle_mini {
namespace {

BestOf best_of_argsort(const OpDesc& op) { return {attr_of<int32_t>(op, "axis"), -1, attr_of<bool>(op, "descending")}; }

}  // namespace

void define_argsort(OpTable& ops) {
  ops.add(taking_best<best_of_argsort>("argsort")
              .attr("axis", -1, "the axis; negative: from the end")
              .attr("descending", false, "whether the largest comes first, or else the smallest")
              .doc("Out: the elements of X along one axis, the smallest first, and Indices: where they were. "
                   "NaN counts as larger than every number; of equal elements that at the lower index comes first.")
              .gradient("argsort_grad", {"X", "Indices", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<BestKernel<best_of_argsort>::For, float, double, int32_t, int64_t>());
  ops.add(taking_best_gradient<best_of_argsort>(ops, "argsort")
              .kernels<BestGradKernel<best_of_argsort>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

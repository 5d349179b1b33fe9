// top_k_v2: the k largest, or smallest, elements along one axis and their indices
#include "ops/family/best.h"

namespace paddle_mini {
namespace {

BestOf best_of_top_k_v2(const OpDesc& op) {
  return {attr_of<int32_t>(op, "axis"), count_of_best(op), attr_of<bool>(op, "largest")};
}

}  // namespace

void define_top_k_v2(OpTable& ops) {
  ops.add(with_tensor_ports(taking_best<best_of_top_k_v2>("top_k_v2"), best_ports())
              .attr("k", 1, "how many", at_least(1))
              .attr("axis", -1, "the axis; negative: from the end")
              .attr("largest", true, "whether the largest, or else the smallest, are taken")
              .attr("sorted", true, "whether they must be in order; they always are")
              .doc("Out: the k largest elements of X along one axis, the largest first, and Indices: where they are. "
                   "With largest false, the k smallest, the smallest first. Of equal elements that at the lower index "
                   "comes first.")
              .gradient("top_k_v2_grad", {"X", "Indices", "K", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<BestKernel<best_of_top_k_v2>::For, float, double, int32_t, int64_t>());
  ops.add(taking_best_gradient<best_of_top_k_v2>(ops, "top_k_v2")
              .kernels<BestGradKernel<best_of_top_k_v2>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

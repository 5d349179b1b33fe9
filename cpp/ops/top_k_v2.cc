// top_k_v2: the k largest, or smallest, elements along one axis and their indices
#include "ops/family/top_k.h"

namespace paddle_mini {
namespace {

TopK top_k_v2_rule(const OpDesc& op) {
  return {attr_of<int32_t>(op, "axis"), top_k_count(op), attr_of<bool>(op, "largest")};
}

}  // namespace

void define_top_k_v2(OpTable& ops) {
  ops.add(with_tensor_ports(top_k_schema<top_k_v2_rule>("top_k_v2"), top_k_ports())
              .attr("k", 1, "how many", at_least(1))
              .attr("axis", -1, "the axis; negative: from the end")
              .attr("largest", true, "whether the largest elements are selected; otherwise the smallest")
              .attr("sorted", true, "not used: the elements are always sorted")
              .doc("Out = the k largest elements of X along one axis, in descending order; Indices = their positions. "
                   "If largest is false, the k smallest in ascending order. Of equal elements, the one with the lower "
                   "index comes first.")
              .gradient("top_k_v2_grad", {"X", "Indices", "K", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<TopKKernel<top_k_v2_rule>::For, float, double, int32_t, int64_t>());
  ops.add(top_k_gradient<top_k_v2_rule>(ops, "top_k_v2")
              .kernels<TopKGradKernel<top_k_v2_rule>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

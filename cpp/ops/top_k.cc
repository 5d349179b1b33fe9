// top_k: the k largest elements along the last axis and their indices
#include "ops/family/top_k.h"

namespace paddle_mini {
namespace {

TopK top_k_rule(const OpDesc& op) { return {-1, top_k_count(op), true}; }

}  // namespace

void define_top_k(OpTable& ops) {
  ops.add(with_tensor_ports(top_k_schema<top_k_rule>("top_k"), top_k_ports())
              .doc("Out = the k largest elements of X along the last axis, in descending order; Indices = their "
                   "positions. Of equal elements, the one with the lower index comes first.")
              .attr("k", 1, "how many", at_least(1))
              .gradient("top_k_grad", {"X", "Indices", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<TopKKernel<top_k_rule>::For, float, double>());
  ops.add(top_k_gradient<top_k_rule>(ops, "top_k").kernels<TopKGradKernel<top_k_rule>::For, float, double>());
}

}  // namespace paddle_mini

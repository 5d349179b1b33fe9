// top_k: the k largest elements along the last axis and their indices
#include "ops/family/best.h"

namespace paddle_mini {
namespace {

BestOf best_of_top_k(const OpDesc& op) { return {-1, count_of_best(op), true}; }

}  // namespace

void define_top_k(OpTable& ops) {
  ops.add(with_tensor_ports(taking_best<best_of_top_k>("top_k"), best_ports())
              .doc("Out: the k largest elements of X along the last axis, the largest first, and Indices: where they "
                   "are. Of equal elements that at the lower index comes first.")
              .attr("k", 1, "how many", at_least(1))
              .gradient("top_k_grad", {"X", "Indices", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<BestKernel<best_of_top_k>::For, float, double>());
  ops.add(
      taking_best_gradient<best_of_top_k>(ops, "top_k").kernels<BestGradKernel<best_of_top_k>::For, float, double>());
}

}  // namespace paddle_mini

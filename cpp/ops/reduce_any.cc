// reduce_any: Out = whether any elements of X are true, over some axes
#include "ops/family/extremes.h"

namespace paddle_mini {
namespace {

struct Any {
  static constexpr bool first = false;
  PM_HD bool operator()(bool a, bool b) const { return a || b; }
};

}  // namespace

void define_reduce_any(OpTable& ops) {
  ops.add(truth_reduction("reduce_any")
              .doc("Out = whether any element of X over the axes in `dim` is true; false if there are none.")
              .on_gpu()
              .kernels<TruthKernel<Any>::For, bool, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

// reduce_all: Out = whether all elements of X are true, over some axes
#include "ops/family/extremes.h"

namespace paddle_mini {
namespace {

struct All {
  static constexpr bool first = true;
  PM_HD bool operator()(bool a, bool b) const { return a && b; }
};

}  // namespace

void define_reduce_all(OpTable& ops) {
  ops.add(truth_reduction("reduce_all")
              .doc("Out = whether all elements of X over the axes in `dim` are true; true if there are none.")
              .on_gpu()
              .kernels<TruthKernel<All>::For, bool, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

// logical_or: Out = whether X or Y is true, or both
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

struct LogicalOr {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return select(x == V(0), select(y == V(0), V(0), V(1)), V(1));
  }
};

}  // namespace

void define_logical_or(OpTable& ops) {
  ops.add(logical("logical_or")
              .doc("Out = whether X or Y is true, or both, element by element; a number is true unless it is 0. The "
                   "last axes are aligned; dimensions of 1 are broadcast.")
              .on_gpu()
              .kernels<CompareKernel<LogicalOr>::For, bool, float, double, int8_t, int16_t, int32_t, int64_t>());
}

}  // namespace paddle_mini

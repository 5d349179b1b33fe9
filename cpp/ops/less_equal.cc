// less_equal: Out = whether X <= Y
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

struct LessEqual {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return select(x <= y, V(1), V(0));
  }
};

}  // namespace

void define_less_equal(OpTable& ops) {
  ops.add(
      comparison("less_equal")
          .doc("Out = whether X <= Y, element by element. Y's dimensions are aligned with X's from `axis` on; "
               "dimensions of 1 are broadcast. False where either is NaN.")
          .on_gpu()
          .kernels<CompareKernel<LessEqual>::For, float, double, int16_t, int32_t, int64_t, int8_t, uint8_t, bool>());
}

}  // namespace paddle_mini

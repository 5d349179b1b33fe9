// not_equal: Out = whether X differs from Y
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

struct NotEqual {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    V equal = equal_or_not(x, y);
    return select(equal == V(0), V(1), V(0));
  }
};

}  // namespace

void define_not_equal(OpTable& ops) {
  ops.add(
      comparison("not_equal")
          .doc("Out = whether X differs from Y, element by element. Y's dimensions are aligned with X's from `axis` "
               "on; dimensions of 1 are broadcast. Floating point numbers less than 1e-8 apart are equal; NaN is equal "
               "to nothing.")
          .on_gpu()
          .kernels<CompareKernel<NotEqual>::For, float, double, int16_t, int32_t, int64_t, int8_t, uint8_t, bool>());
}

}  // namespace paddle_mini

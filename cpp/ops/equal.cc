// equal: Out = whether X equals Y
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

struct Equal {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return equal_or_not(x, y);
  }
};

}  // namespace

void define_equal(OpTable& ops) {
  ops.add(comparison("equal")
              .doc("Out = whether X equals Y, element by element. Y's dimensions are aligned with X's from `axis` on; "
                   "dimensions of 1 are broadcast. Floating point numbers less than 1e-8 apart are equal; NaN is equal "
                   "to nothing.")
              .on_gpu()
              .kernels<CompareKernel<Equal>::For, float, double, int16_t, int32_t, int64_t, int8_t, uint8_t, bool>());
}

}  // namespace paddle_mini

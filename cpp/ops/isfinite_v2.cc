// isfinite_v2: Out = whether X is a finite number
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

// Infinity minus infinity is NaN, and so is NaN minus NaN.
struct IsfiniteV2 {
  template <class V>
  PM_HD V operator()(V x) const {
    if constexpr (std::is_integral_v<V>) return 1;
    else return x - x == 0;
  }
};

}  // namespace

void define_isfinite_v2(OpTable& ops) {
  ops.add(test_of("isfinite_v2")
              .doc("Out = whether X is a finite number, element by element. Integers are finite.")
              .on_gpu()
              .kernels<TestKernel<IsfiniteV2>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

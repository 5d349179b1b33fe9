// isfinite_v2: for each element of X, isfinite: for all together; Out = whether X is a finite number
#include "ops/family/test_of_all.h"

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
  ops.add(test_of_all("isfinite")
              .doc("Out = whether all elements of X are finite numbers. Its second version answers for each element.")
              .kernels<TestOfAllKernel<IsfiniteV2, AllAreTrue>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

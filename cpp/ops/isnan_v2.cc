// isnan_v2: for each element of X, isnan: for all together; Out = whether X is NaN
#include "ops/family/test_of_all.h"

namespace paddle_mini {
namespace {

struct IsnanV2 {
  template <class V>
  PM_HD V operator()(V x) const {
    return select(x == x, V(0), V(1));
  }
};

}  // namespace

void define_isnan_v2(OpTable& ops) {
  ops.add(test_of("isnan_v2")
              .doc("Out = whether X is NaN, element by element. Integers are never NaN.")
              .on_gpu()
              .kernels<TestKernel<IsnanV2>::For, float, double, int32_t, int64_t>());
  ops.add(test_of_all("isnan")
              .doc("Out = whether any element of X is NaN. Its second version answers for each element.")
              .kernels<TestOfAllKernel<IsnanV2, AnyIsTrue>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

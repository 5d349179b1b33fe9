// isinf_v2: for each element of X, isinf: for all together; Out = whether X is infinity or minus infinity
#include "ops/family/test_of_all.h"

namespace paddle_mini {
namespace {

struct IsinfV2 {
  template <class V>
  PM_HD V operator()(V x) const {
    if constexpr (std::is_integral_v<V>) return 0;
    else return abs(x) == std::numeric_limits<V>::infinity();
  }
};

}  // namespace

void define_isinf_v2(OpTable& ops) {
  ops.add(test_of("isinf_v2")
              .doc("Out = whether X is infinity or minus infinity, element by element. Integers are finite.")
              .on_gpu()
              .kernels<TestKernel<IsinfV2>::For, float, double, int32_t, int64_t>());
  ops.add(test_of_all("isinf")
              .doc("Out = whether any element of X is infinity or minus infinity. Its second version answers for each "
                   "element.")
              .kernels<TestOfAllKernel<IsinfV2, AnyIsTrue>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

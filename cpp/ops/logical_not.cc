// logical_not: Out = whether X is not true
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

struct LogicalNot {
  template <class V>
  PM_HD V operator()(V x) const {
    return select(x == V(0), V(1), V(0));
  }
};

}  // namespace

void define_logical_not(OpTable& ops) {
  ops.add(test_of("logical_not")
              .doc("Out = whether X is not true, element by element; a number is true unless it is 0.")
              .on_gpu()
              .kernels<TestKernel<LogicalNot>::For, bool, float, double, int8_t, int16_t, int32_t, int64_t>());
}

}  // namespace paddle_mini

// arg_max: Out = the index of the largest element of X along an axis
#include "ops/family/arg_extreme.h"

namespace paddle_mini {
namespace {

struct GreaterFirst {
  template <class T>
  PM_HD bool operator()(T a, T b) const {
    return a > b;
  }
};

}  // namespace

void define_arg_max(OpTable& ops) {
  ops.add(arg_extreme("arg_max")
              .doc("Out = the index along the axis of the largest element of X: the first of equal ones. NaN counts as "
                   "larger than every number.")
              .on_gpu()
              .kernels<ArgExtremeKernel<GreaterFirst>::For, float, double, int32_t, int64_t, int16_t, uint8_t>());
}

}  // namespace paddle_mini

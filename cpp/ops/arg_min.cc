// arg_min: Out = the index of the smallest element of X along an axis
#include "ops/family/arg_extreme.h"

namespace paddle_mini {
namespace {

struct LessFirst {
  template <class T>
  PM_HD bool operator()(T a, T b) const {
    return a < b;
  }
};

}  // namespace

void define_arg_min(OpTable& ops) {
  ops.add(arg_extreme("arg_min")
              .doc("Out = the index along the axis of the smallest element of X: the first of equal ones. NaN counts "
                   "as smaller than every number.")
              .on_gpu()
              .kernels<ArgExtremeKernel<LessFirst>::For, float, double, int32_t, int64_t, int16_t, uint8_t>());
}

}  // namespace paddle_mini

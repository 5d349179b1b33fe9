// bitwise_or: Out = the bits that are 1 in X or in Y
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

struct BitwiseOr {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return static_cast<V>(x | y);
  }
};

}  // namespace

void define_bitwise_or(OpTable& ops) {
  ops.add(bitwise("bitwise_or")
              .doc("Out = the bitwise OR of X and Y; for bool, the logical OR. The last axes are aligned; dimensions "
                   "of 1 are broadcast.")
              .on_gpu()
              .kernels<BitwiseKernel<BitwiseOr>::For, bool, uint8_t, int8_t, int16_t, int32_t, int64_t>());
}

}  // namespace paddle_mini

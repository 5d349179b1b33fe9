// bitwise_xor: Out = the bits that are 1 in exactly one of X and Y
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

struct BitwiseXor {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return static_cast<V>(x ^ y);
  }
};

}  // namespace

void define_bitwise_xor(OpTable& ops) {
  ops.add(bitwise("bitwise_xor")
              .doc("Out = the bitwise XOR of X and Y; for bool, the logical XOR. The last axes are aligned; dimensions "
                   "of 1 are broadcast.")
              .on_gpu()
              .kernels<BitwiseKernel<BitwiseXor>::For, bool, uint8_t, int8_t, int16_t, int32_t, int64_t>());
}

}  // namespace paddle_mini

// bitwise_not: Out = X with all bits inverted
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct BitwiseNot {
  template <class V>
  PM_HD V operator()(V x) const {
    if constexpr (std::is_same_v<V, bool>) return !x;
    else return static_cast<V>(~x);
  }
};

}  // namespace

void define_bitwise_not(OpTable& ops) {
  ops.add(unary("bitwise_not")
              .doc("Out = the bitwise NOT of X; for bool, the logical NOT.")
              .no_gradient("a bitwise operator has no derivative")
              .kernels<UnaryKernel<BitwiseNot>::For, bool, uint8_t, int8_t, int16_t, int32_t, int64_t>());
}

}  // namespace paddle_mini

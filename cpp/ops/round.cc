// round: Out = the whole number nearest to X, halves away from zero
#include "ops/family/rounding.h"

namespace paddle_mini {
namespace {

struct Round {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::round(number); });
  }
};

}  // namespace

void define_round(OpTable& ops) {
  ops.add(unary("round")
              .doc("Out = the whole number nearest to X, halves away from zero, element by element; NaN "
                   "and infinity stay as they are.")
              .gradient("round_grad", {"Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Round>::For, float, double>());
  ops.add(zero_gradient("round_grad").on_gpu().kernels<ZeroGradKernel, float, double>());
}

}  // namespace paddle_mini

// sign: Out = 1 where X > 0, -1 where X < 0, 0 where X is 0
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Sign {
  template <class V>
  PM_HD V operator()(V x) const {
    return sign(x);
  }
};

}  // namespace

void define_sign(OpTable& ops) {
  ops.add(unary("sign")
              .doc("Out = 1 where X > 0, -1 where X < 0, 0 where X is 0; NaN stays NaN. Its gradient is 0.")
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op("scale", {{"X", gradient_names(forward.output("Out"))}},
                                                   {{"Out", gradient_names(forward.input("X"))}},
                                                   {{"scale", 0.0f}, {"bias", 0.0f}, {"bias_after_scale", true}})};
              })
              .kernels<UnaryKernel<Sign>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

// trunc: Out = X without its fraction
#include "math/rounding.h"

namespace paddle_mini {
namespace {

struct Trunc {
  template <class V>
  V operator()(V x) const { return each_lane(x, [](auto number) { return std::trunc(number); }); }
};

}  // namespace

void define_trunc(OpTable& ops) {
  ops.add(unary("trunc")
              .doc("Out = X without its fraction, element by element; NaN and infinity stay as they are.")
              .gradient("trunc_grad", {"Out@GRAD"}, {"X@GRAD"})
              .kernels<UnaryKernel<Trunc>::For, float, double>());
  ops.add(zero_gradient("trunc_grad").kernels<ZeroGradKernel, float, double>());
}

}  // namespace paddle_mini

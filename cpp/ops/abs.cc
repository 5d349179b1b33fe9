// abs: Out = |X|
#include "core/widening.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Abs {
  template <class V>
  PM_HD V operator()(V x) const {
    return abs(x);
  }
};

struct AbsGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * sign(x);
  }
};

}  // namespace

void define_abs(OpTable& ops) {
  ops.add(unary("abs")
              .doc("Out = |X|, element by element.")
              .gradient("abs_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .kernels<UnaryKernel<Abs>::For, float, double, int32_t, int64_t>());
  ops.add(also({DType::Int32, DType::Int64}, unary_gradient(ops, "abs")
                                                 .doc("X@GRAD = Out@GRAD sign(X): 0 where X is 0.")
                                                 .kernels<UnaryGradKernel<AbsGrad, Saved::X>::For, float, double>()));
}

}  // namespace paddle_mini

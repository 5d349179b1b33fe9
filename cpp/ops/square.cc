// square: Out = X^2
#include "core/widening.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Square {
  template <class V>
  PM_HD V operator()(V x) const {
    return x * x;
  }
};

struct SquareGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return V(2) * x * gradient;
  }
};

}  // namespace

void define_square(OpTable& ops) {
  ops.add(unary("square")
              .doc("Out = X^2, element by element.")
              .gradient("square_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .kernels<UnaryKernel<Square>::For, float, double, int32_t, int64_t>());
  ops.add(also({DType::Int32, DType::Int64},
               unary_gradient(ops, "square")
                   .doc("X@GRAD = 2 X Out@GRAD.")
                   .kernels<UnaryGradKernel<SquareGrad, Saved::X>::For, float, double>()));
}

}  // namespace paddle_mini

// sqrt: Out = the square root of X
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Sqrt {
  template <class V>
  PM_HD V operator()(V x) const {
    return sqrt(x);
  }
};

struct SqrtGrad {
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return V(number_of<V>(0.5)) * gradient / out;
  }
};

}  // namespace

void define_sqrt(OpTable& ops) {
  ops.add(unary("sqrt")
              .doc("The square root, element by element; of a negative number NaN.")
              .gradient("sqrt_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Sqrt>::For, float, double>());
  ops.add(unary_gradient("sqrt_grad", Keeps::Out)
              .doc("X@GRAD = Out@GRAD / (2 Out).")
              .on_gpu()
              .kernels<UnaryGradKernel<SqrtGrad, Keeps::Out>::For, float, double>());
}

}  // namespace paddle_mini

// sigmoid: Out = 1 / (1 + exp(-X))
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Sigmoid {
  template <class V>
  PM_HD V operator()(V x) const {
    return V(1) / (V(1) + exp(-x));
  }
};

struct SigmoidGrad {
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return gradient * out * (V(1) - out);
  }
};

}  // namespace

void define_sigmoid(OpTable& ops) {
  ops.add(unary("sigmoid")
              .doc("Out = 1 / (1 + exp(-X)), element by element.")
              .gradient("sigmoid_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Sigmoid>::For, float, double>());
  ops.add(unary_gradient("sigmoid_grad", Keeps::Out)
              .doc("X@GRAD = Out@GRAD Out (1 - Out).")
              .on_gpu()
              .kernels<UnaryGradKernel<SigmoidGrad, Keeps::Out>::For, float, double>());
}

}  // namespace paddle_mini

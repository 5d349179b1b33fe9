// softsign: Out = X / (1 + |X|)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Softsign {
  template <class V>
  PM_HD V operator()(V x) const {
    return x / (V(1) + abs(x));
  }
};

struct SoftsignGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V below = V(1) + abs(x);
    return gradient / (below * below);
  }
};

}  // namespace

void define_softsign(OpTable& ops) {
  ops.add(unary("softsign")
              .doc("Out = X / (1 + |X|), element by element.")
              .gradient("softsign_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Softsign>::For, float, double>());
  ops.add(unary_gradient("softsign_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD / (1 + |X|)^2.")
              .on_gpu()
              .kernels<UnaryGradKernel<SoftsignGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

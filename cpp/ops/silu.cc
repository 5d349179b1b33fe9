// silu: Out = X / (1 + exp(-X))
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Silu : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return x / (V(1) + exp(-x));
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V sigmoid = V(1) / (V(1) + exp(-x));
    return gradient * sigmoid * (V(1) + x * (V(1) - sigmoid));
  }
};

}  // namespace

void define_silu(OpTable& ops) {
  ops.add(with_complex<UnaryKernel<Silu>::For>(unary("silu")
                                                   .doc("Out = X / (1 + exp(-X)), element by element.")
                                                   .gradient("silu_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
                                                   .kernels<UnaryKernel<Silu>::For, float, double>()));
  ops.add(with_complex<UnaryGradKernel<Silu, Saved::X>::For>(
      unary_gradient(ops, "silu")
          .doc("X@GRAD = Out@GRAD s (1 + X (1 - s)), where s = 1 / (1 + exp(-X)).")
          .optional_input("Out", "from the forward operator; not read")
          .kernels<UnaryGradKernel<Silu, Saved::X>::For, float, double>()));
  add_unary_second<Silu, Saved::X>(ops, "silu");
}

}  // namespace paddle_mini

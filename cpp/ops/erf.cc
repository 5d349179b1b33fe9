// erf: Out = the error function of X
#include "math/error_function.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Erf {
  template <class V>
  PM_HD V operator()(V x) const {
    return erf(x);
  }
};

struct ErfGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * V(1.1283791670955126) * exp(-x * x);
  }
};

}  // namespace

void define_erf(OpTable& ops) {
  ops.add(unary("erf")
              .doc("Out = erf(X), 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to X, element by "
                   "element.")
              .gradient("erf_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Erf>::For, float, double>());
  ops.add(unary_gradient("erf_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD 2 / sqrt(pi) exp(-X^2).")
              .on_gpu()
              .kernels<UnaryGradKernel<ErfGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini

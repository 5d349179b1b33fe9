// reciprocal: Out = 1 / X
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Reciprocal {
  template <class V>
  PM_HD V operator()(V x) const {
    return V(1) / x;
  }
};

struct ReciprocalGrad {
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return -gradient * out * out;
  }
};

}  // namespace

void define_reciprocal(OpTable& ops) {
  ops.add(unary("reciprocal")
              .doc("Out = 1 / X, element by element.")
              .gradient("reciprocal_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<UnaryKernel<Reciprocal>::For, float, double>());
  ops.add(unary_gradient("reciprocal_grad", Keeps::Out)
              .doc("X@GRAD = -Out@GRAD Out^2.")
              .on_gpu()
              .kernels<UnaryGradKernel<ReciprocalGrad, Keeps::Out>::For, float, double>());
}

}  // namespace paddle_mini

// relu: Out = max(X, 0)
#include "ops/family/narrow_kernels.h"
#include "ops/family/unary.h"

#include <limits>

namespace paddle_mini {
namespace {

struct Relu {
  template <class V>
  PM_HD V operator()(V x) const {
    return maximum(x, V(0));
  }
  double lower() const { return 0; }
  double upper() const { return std::numeric_limits<double>::infinity(); }

  // X > 0 exactly where Out > 0, so the gradient needs only the output.
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return select(out > V(0), gradient, V(0));
  }
};

}  // namespace

void define_relu(OpTable& ops) {
  ops.add(with_halves<UnaryKernel<Relu>::For>(unary("relu")
                                                  .doc("Out = max(X, 0), element by element; NaN stays NaN.")
                                                  .gradient("relu_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
                                                  .kernels<ClampKernel<Relu>::For, float, double>()));
  ops.add(with_halves<UnaryGradKernel<Relu, Saved::Out>::For>(
      unary_gradient(ops, "relu")
          .doc("X@GRAD = Out@GRAD where Out > 0, else 0.")
          .kernels<UnaryGradKernel<Relu, Saved::Out>::For, float, double>()));
  add_unary_second<Relu, Saved::Out>(ops, "relu");
}

}  // namespace paddle_mini

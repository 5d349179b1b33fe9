// exp: Out = e^X
#include "core/widening.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Exp : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    return exp(x);
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return gradient * out;
  }
};

}  // namespace

void define_exp(OpTable& ops) {
  ops.add(also({DType::Int32, DType::Int64},
               with_complex<UnaryKernel<Exp>::For>(unary("exp")
                                                       .infer(infer_float_of_integers)
                                                       .doc("Out = e^X, element by element; on overflow, infinity.")
                                                       .gradient("exp_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
                                                       .kernels<UnaryKernel<Exp>::For, float, double>())));
  ops.add(also({DType::Int32, DType::Int64},
               with_complex<UnaryGradKernel<Exp, Saved::Out>::For>(
                   unary_gradient(ops, "exp")
                       .doc("X@GRAD = Out@GRAD Out.")
                       .kernels<UnaryGradKernel<Exp, Saved::Out>::For, float, double>())));
  add_unary_second<Exp, Saved::Out>(ops, "exp");
}

}  // namespace paddle_mini

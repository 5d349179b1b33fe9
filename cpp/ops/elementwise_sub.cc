// elementwise_sub: Out = X - Y, with Y broadcast over X
#include "core/widening.h"
#include "ops/family/elementwise.h"
#include "ops/family/of_complex.h"
#include "ops/family/promoting.h"

namespace paddle_mini {
namespace {

struct Subtract {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return x - y;
  }
};

struct NegateGradient {
  template <class V>
  PM_HD V operator()(V, V, V gradient) const {
    return -gradient;
  }
};

}  // namespace

void define_elementwise_sub(OpTable& ops) {
  ops.add(promotes_complex(with_complex<BinaryKernel<Subtract>::For>(
      binary("elementwise_sub")
          .infer(infer_promoting_broadcast)
          .doc("Out = X - Y. Y's dimensions are aligned with X's from `axis` on; dimensions of 1 are broadcast.")
          .gradient("elementwise_sub_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
          .kernels<BinaryKernel<Subtract>::For, float, double, int32_t, int64_t>())));
  ops.add(
      also({DType::Int16},
           promotes_complex(with_complex<BinaryGradKernel<PassGradient, NegateGradient>::For>(
               binary_gradient(ops, "elementwise_sub")
                   .gradient(sum_second_rule("elementwise_sub"))
                   .shape_only("X")
                   .shape_only("Y")
                   .doc("X@GRAD = Out@GRAD and Y@GRAD = -Out@GRAD, each summed over the axes it was broadcast along.")
                   .view("Out@GRAD", "X@GRAD")
                   .kernels<BinaryGradKernel<PassGradient, NegateGradient>::For, float, double>()))));
  ops.add(with_complex<SumSecondKernel<Subtract>::For>(
      sum_second_gradient(ops, "elementwise_sub").kernels<SumSecondKernel<Subtract>::For, float, double>()));
}

}  // namespace paddle_mini

// elementwise_add: Out = X + Y, with Y broadcast over X; grad_add: the same for sums of gradients
#include "core/widening.h"
#include "ops/family/elementwise.h"
#include "ops/family/narrow_kernels.h"
#include "ops/family/of_complex.h"
#include "ops/family/promoting.h"

namespace paddle_mini {
namespace {

struct Add {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return x + y;
  }
};

}  // namespace

void define_elementwise_add(OpTable& ops) {
  ops.add(promotes_complex(with_complex<BinaryKernel<Add>::For>(with_halves<BinaryKernel<Add>::For>(
      binary("elementwise_add")
          .infer(infer_promoting_broadcast)
          .doc("Out = X + Y. Y's dimensions are aligned with X's from `axis` on; dimensions of 1 are broadcast.")
          .gradient("elementwise_add_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
          .kernels<BinaryKernel<Add>::For, float, double, int32_t, int64_t>()))));
  ops.add(also(
      {DType::Int16},
      promotes_complex(with_complex<BinaryGradKernel<PassGradient, PassGradient>::For>(
          with_halves<BinaryGradKernel<PassGradient, PassGradient>::For>(
              binary_gradient(ops, "elementwise_add")
                  .gradient(sum_second_rule("elementwise_add"))
                  .shape_only("X")
                  .shape_only("Y")
                  .doc("X@GRAD = Out@GRAD and Y@GRAD = Out@GRAD, each summed over the axes it was broadcast along.")
                  .view("Out@GRAD", "X@GRAD")
                  .kernels<BinaryGradKernel<PassGradient, PassGradient>::For, float, double>())))));
  ops.add(with_complex<SumSecondKernel<Add>::For>(
      sum_second_gradient(ops, "elementwise_add").kernels<SumSecondKernel<Add>::For, float, double>()));
  ops.add(with_complex<BinaryKernel<Add>::For>(
      binary("grad_add")
          .doc("Out = X + Y, as elementwise_add: the sum of gradients of one variable.")
          .no_gradient("its inputs are gradients, and PaddlePaddle has none either")
          .kernels<BinaryKernel<Add>::For, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini

// elementwise_add: Out = X + Y, with Y broadcast over X; grad_add: the same for sums of gradients
#include "core/stored_parts.h"
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

// It adds in the registers of the operator before it, too, if that one's output is one addend and Out shares its memory.
template <class T>
struct AddKernel : BinaryKernel<Add>::For<T>, RegisterStepKernel {
  using BinaryKernel<Add>::For<T>::For;

  RegisterStep register_step(const void* array) const override {
    const void *x = this->x.data(), *y = this->y.data();
    if (this->out.data() != array || (x == array) == (y == array)) return {};
    if (this->broadcast.same_shape()) return {RegisterStep::Kind::AddByElement, x == array ? y : x};
    const auto repeats = this->broadcast.repeats_of_y();
    if (x != array || !repeats) return {};
    return {RegisterStep::Kind::AddByIndex, y, repeats->inner, repeats->count};
  }
};

}  // namespace

void define_elementwise_add(OpTable& ops) {
  ops.add(promotes_complex(with_complex<BinaryKernel<Add>::For>(with_halves<BinaryKernel<Add>::For>(
      binary("elementwise_add")
          .infer(infer_promoting_broadcast)
          .doc("Out = X + Y. Y's dimensions are aligned with X's from `axis` on; dimensions of 1 are broadcast.")
          .gradient("elementwise_add_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
          .kernels<AddKernel, float, double, int32_t, int64_t>()))));
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

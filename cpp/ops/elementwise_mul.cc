// elementwise_mul: Out = X Y element by element, with Y broadcast over X
#include "core/widening.h"
#include "math/arithmetic.h"
#include "ops/family/bilinear.h"
#include "ops/family/elementwise.h"
#include "ops/family/of_complex.h"
#include "ops/family/promoting.h"

namespace paddle_mini {
namespace {

struct Multiply {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return x * y;
  }
};

struct TimesY {
  template <class V>
  PM_HD V operator()(V, V y, V gradient) const {
    return gradient * conj(y);
  }
};

struct TimesX {
  template <class V>
  PM_HD V operator()(V x, V, V gradient) const {
    return gradient * conj(x);
  }
};

template <class T>
struct ElementwiseMulKernel : BinaryKernel<Multiply>::For<T> {
  using BinaryKernel<Multiply>::For<T>::For;

  void run(KernelContext& context) override {
    if (!this->x.is_rows()) return BinaryKernel<Multiply>::For<T>::run(context);
    map(context, this->x.numel(), TimesUniform<T>{this->y}, this->out.data(), this->x.data());
    this->out.variable().set_rows(this->x.variable().rows);
  }
};

void infer_elementwise_mul(InferContext& c) {
  if (c.input("X").kind != VarKind::SelectedRows) return infer_promoting_broadcast(c);
  require<ShapeError>(c.input("Y").kind == VarKind::Tensor, "X is selected rows, so Y must be a tensor of one element");
  require_same_dtype(c, "X", "Y");
  require_scalar(c, "Y");
  c.set_output("Out", c.input("X"));
}

}  // namespace

void define_elementwise_mul(OpTable& ops) {
  ops.add(also(
      {DType::Bool},
      promotes_complex(with_complex<ElementwiseMulKernel>(
          binary("elementwise_mul")
              .doc("Out = X Y, element by element. Y's dimensions lie against X's from `axis` on; a dimension of 1 "
                   "is broadcast. X may be selected rows if Y has one element: then so is Out, with the same rows.")
              .accepts_selected_rows("X")
              .infer(infer_elementwise_mul)
              .gradient("elementwise_mul_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .kernels<ElementwiseMulKernel, float, double, int32_t, int64_t>()))));
  ops.add(also(
      {DType::Bool},
      promotes_complex(with_complex<BinaryGradKernel<TimesY, TimesX>::For>(
          bilinear_gradient_of(ops, "elementwise_mul")
              .in_place("Out@GRAD", "X@GRAD")
              .doc("X@GRAD = Out@GRAD Y and Y@GRAD = Out@GRAD X, each summed over the axes it was broadcast along; "
                   "of complex numbers with the conjugates of Y and X.")
              .kernels<BinaryGradKernel<TimesY, TimesX>::For, float, double>()))));
  using Second = BilinearSecondKernel<BinaryKernel<Multiply>::For, BinaryGradKernel<TimesY, TimesX>::For>;
  ops.add(with_complex<Second::For>(
      bilinear_second_gradient(ops, "elementwise_mul").kernels<Second::For, float, double>()));
}

}  // namespace paddle_mini

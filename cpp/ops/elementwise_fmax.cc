// elementwise_fmax: Out = max(X, Y), ignoring a NaN if the other one is a number, with Y broadcast over X
#include "core/widening.h"
#include "ops/family/elementwise.h"

namespace paddle_mini {
namespace {

// Chooses X where it is greater or equal, or Y is NaN.
template <class V>
PM_HD V choose_larger(V x, V y, V of_x, V of_y) {
  return select(x >= y, of_x, select(y == y, of_y, of_x));
}

struct MaximumNumber {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return choose_larger(x, y, x, y);
  }
};

struct WhereXIsMost {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return choose_larger(x, y, gradient, V(0));
  }
};

struct WhereYIsMost {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return choose_larger(x, y, V(0), gradient);
  }
};

}  // namespace

void define_elementwise_fmax(OpTable& ops) {
  ops.add(binary("elementwise_fmax")
              .doc("Out = max(X, Y); if one is NaN, the other. Y's dimensions are aligned with X's from `axis` on; "
                   "dimensions of 1 are broadcast.")
              .gradient("elementwise_fmax_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<BinaryKernel<MaximumNumber>::For, float, double, int32_t, int64_t>());
  ops.add(also({DType::Int32, DType::Int64},
               ops.gradient_of("elementwise_fmax")
                   .in_place("Out@GRAD", "X@GRAD")
                   .doc("X@GRAD = Out@GRAD where X >= Y or Y is NaN, Y@GRAD = Out@GRAD elsewhere, else 0; each summed "
                        "over the axes along which it was broadcast.")
                   .kernels<BinaryGradKernel<WhereXIsMost, WhereYIsMost>::For, float, double>()));
}

}  // namespace paddle_mini

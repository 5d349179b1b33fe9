// elementwise_min: Out = min(X, Y), with Y broadcast over X
#include "core/widening.h"
#include "ops/family/elementwise.h"

namespace paddle_mini {
namespace {

struct Minimum {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return minimum(x, y);
  }
};

struct WhereXIsLess {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return select(x < y, gradient, V(0));
  }
};

struct WhereXIsNotLess {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return select(x >= y, gradient, V(0));
  }
};

}  // namespace

void define_elementwise_min(OpTable& ops) {
  ops.add(binary("elementwise_min")
              .doc("Out = min(X, Y); NaN in either gives NaN. Y's dimensions are aligned with X's from `axis` on; "
                   "dimensions of 1 are broadcast.")
              .gradient("elementwise_min_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<BinaryKernel<Minimum>::For, float, double, int32_t, int64_t>());
  ops.add(also({DType::Int32, DType::Int64},
               ops.gradient_of("elementwise_min")
                   .in_place("Out@GRAD", "X@GRAD")
                   .doc("X@GRAD = Out@GRAD where X < Y, Y@GRAD = Out@GRAD where X >= Y, else 0; each summed over the "
                        "axes along which it was broadcast.")
                   .kernels<BinaryGradKernel<WhereXIsLess, WhereXIsNotLess>::For, float, double>()));
}

}  // namespace paddle_mini

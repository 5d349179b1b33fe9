// elementwise_div: Out = X / Y, with Y broadcast over X
#include "core/widening.h"
#include "ops/family/integer_division.h"

namespace paddle_mini {
namespace {

// Integers are truncated towards zero. The quotient of the smallest integer and -1 overflows and wraps around to it.
struct Divide {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    if constexpr (std::is_integral_v<V>) {
      if (y == V(-1)) return static_cast<V>(0 - static_cast<std::make_unsigned_t<V>>(x));
    }
    return x / y;
  }
};

struct OverY {
  template <class V>
  PM_HD V operator()(V, V y, V gradient) const {
    return gradient / y;
  }
};

struct TimesOutOverY {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return -gradient * (x / y) / y;
  }
};

}  // namespace

void define_elementwise_div(OpTable& ops) {
  ops.add(also({DType::Bool},
               binary("elementwise_div")
                   .doc("Out = X / Y. Y's dimensions are aligned with X's from `axis` on; dimensions of 1 are "
                        "broadcast. Quotients of integers are truncated towards zero; for integers, Y = 0 is an error.")
                   .gradient("elementwise_div_grad", {"X", "Y", "Out", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
                   .checks_data()
                   .kernels<IntegerDivisionKernel<Divide>::For, float, double, int32_t, int64_t>()));
  ops.add(
      also({DType::Bool, DType::Int8, DType::UInt8, DType::Int16},
           binary_gradient(ops, "elementwise_div")
               .doc("X@GRAD = Out@GRAD / Y and Y@GRAD = -Out@GRAD X / Y^2, each summed over the axes it was broadcast "
                    "along.")
               .optional_input("Out", "from the forward operator; not read, because X / Y is computed again")
               .kernels<BinaryGradKernel<OverY, TimesOutOverY>::For, float, double>()));
}

}  // namespace paddle_mini

// expm1: Out = exp(X) - 1
#include "core/widening.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Expm1 : Analytic {
  template <class V>
  PM_HD V operator()(V x) const {
    if constexpr (is_complex_number<V>) {
      using T = real_part_of<V>;
      T half = std::sin(x.imag / 2), grown = std::expm1(x.real);
      return V(grown * std::cos(x.imag) - 2 * half * half, (grown + T(1)) * std::sin(x.imag));
    } else {
      return each_lane(x, [](auto number) { return std::expm1(number); });
    }
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return gradient * out + gradient;
  }
};

}  // namespace

void define_expm1(OpTable& ops) {
  add_unary<Expm1, Saved::Out>(ops,
                               also({DType::Int32, DType::Int64},
                                    unary("expm1")
                                        .infer(infer_float_of_integers)
                                        .doc("Out = exp(X) - 1, element by element, also accurate for small X.")),
                               "X@GRAD = Out@GRAD (Out + 1).");
}

}  // namespace paddle_mini

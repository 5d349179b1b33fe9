// log2: Out = log2(X)
#include "core/widening.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Log2 {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::log2(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / (x * V(0.6931471805599453));
  }
};

}  // namespace

void define_log2(OpTable& ops) {
  add_unary<Log2, Saved::X>(ops,
                            also({DType::Int32, DType::Int64},
                                 unary("log2")
                                     .infer(infer_float_of_integers)
                                     .doc("Out = log2(X), the logarithm to the base 2, element by element.")),
                            "X@GRAD = Out@GRAD / (X log(2)).");
}

}  // namespace paddle_mini

// log10: Out = log10(X)
#include "core/widening.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Log10 {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::log10(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / (x * V(2.302585092994046));
  }
};

}  // namespace

void define_log10(OpTable& ops) {
  add_unary<Log10, Saved::X>(ops,
                             also({DType::Int32, DType::Int64},
                                  unary("log10")
                                      .infer(infer_float_of_integers)
                                      .doc("Out = log10(X), the logarithm to the base 10, element by element.")),
                             "X@GRAD = Out@GRAD / (X log(10)).");
}

}  // namespace paddle_mini

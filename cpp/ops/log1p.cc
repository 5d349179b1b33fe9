// log1p: Out = log(1 + X)
#include "core/widening.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Log1p {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return std::log1p(number); });
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / (x + V(1));
  }
};

}  // namespace

void define_log1p(OpTable& ops) {
  add_unary<Log1p, Saved::X>(ops,
                             also({DType::Int32, DType::Int64},
                                  unary("log1p")
                                      .infer(infer_float_of_integers)
                                      .doc("Out = log(1 + X), element by element, also accurate for small X.")),
                             "X@GRAD = Out@GRAD / (1 + X).");
}

}  // namespace paddle_mini

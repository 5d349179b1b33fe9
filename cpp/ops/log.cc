// log: Out = the natural logarithm of X
#include "core/widening.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Log {
  template <class V>
  PM_HD V operator()(V x) const {
    return log(x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / x;
  }
};

}  // namespace

void define_log(OpTable& ops) {
  add_unary<Log, Saved::X>(
      ops,
      also({DType::Int32, DType::Int64},
           unary("log")
               .infer(infer_float_of_integers)
               .doc("Out = the natural logarithm of X, element by element; -inf for 0, NaN for a negative number.")),
      "X@GRAD = Out@GRAD / X.");
}

}  // namespace paddle_mini

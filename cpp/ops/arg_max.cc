// arg_max: Out = where along an axis the largest element of X lies
#include "math/arg_extreme.h"

namespace paddle_mini {
namespace {

struct Greater {
  template <class T>
  bool operator()(T a, T b) const { return a > b; }
};

}  // namespace

void define_arg_max(OpTable& ops) {
  add_arg_extreme<Greater>(ops, "arg_max",
                  "Where along the axis the largest element of X lies: the first of equal ones, NaN before all.");
}

}  // namespace paddle_mini

// arg_min: Out = where along an axis the smallest element of X lies
#include "math/arg_extreme.h"

namespace paddle_mini {
namespace {

struct Less {
  template <class T>
  bool operator()(T a, T b) const { return a < b; }
};

}  // namespace

void define_arg_min(OpTable& ops) {
  add_arg_extreme<Less>(ops, "arg_min",
                  "Where along the axis the smallest element of X lies: the first of equal ones, NaN before all.");
}

}  // namespace paddle_mini

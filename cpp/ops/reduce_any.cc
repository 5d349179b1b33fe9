// reduce_any: Out = whether any elements of X are true, over some axes
#include "math/extremes.h"

namespace paddle_mini {
namespace {

struct Any {
  static constexpr bool first = false;
  bool operator()(bool a, bool b) const { return a || b; }
};

}  // namespace

void define_reduce_any(OpTable& ops) {
  add_truth_reduction<Any>(ops, "reduce_any",
                          "Whether any element of X over the axes in `dim` is true; false if there are none.");
}

}  // namespace paddle_mini

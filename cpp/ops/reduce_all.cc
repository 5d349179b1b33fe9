// reduce_all: Out = whether all elements of X are true, over some axes
#include "math/extremes.h"

namespace paddle_mini {
namespace {

struct All {
  static constexpr bool first = true;
  bool operator()(bool a, bool b) const { return a && b; }
};

}  // namespace

void define_reduce_all(OpTable& ops) {
  add_truth_reduction<All>(ops, "reduce_all",
                          "Whether all elements of X over the axes in `dim` are true; true if there are none.");
}

}  // namespace paddle_mini

// Schemas shared by the elementwise operators of two inputs.
#include "ops/family/elementwise.h"

namespace paddle_mini {

OpSchema binary(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .input("Y", "a shape that stretches over X's, or X's over Y's")
      .output("Out", "the stretched shape")
      .attr("axis", -1, "X's axis where Y's first dimension lies; -1: the last axes lie together", at_least(-1))
      .infer(infer_broadcast)
      .in_place("X", "Out")
      .on_gpu();
}

OpSchema binary_gradient(const OpTable& ops, const std::string& forward) {
  return ops.gradient_of(forward).in_place("Out@GRAD", "X@GRAD");
}

}  // namespace paddle_mini

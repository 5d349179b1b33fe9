// Schemas shared by the elementwise operators of two inputs.
#include "ops/family/elementwise.h"

namespace paddle_mini {

OpSchema binary(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .input("Y", "a shape that can be broadcast with X's")
      .output("Out", "the broadcast shape")
      .attr("axis", -1, "the axis of X with which Y's first dimension is aligned; -1: the last axes are aligned",
            at_least(-1))
      .infer(infer_broadcast)
      .in_place("X", "Out")
      .on_gpu();
}

OpSchema binary_gradient(const OpTable& ops, const std::string& forward) {
  return ops.gradient_of(forward).in_place("Out@GRAD", "X@GRAD");
}

}  // namespace paddle_mini

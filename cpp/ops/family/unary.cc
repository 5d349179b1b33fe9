// Schemas shared by the elementwise operators of one input.
#include "ops/family/unary.h"

namespace paddle_mini {

OpSchema unary(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .output("Out", "shape of X")
      .infer(same_as("X"))
      .in_place("X", "Out")
      .on_gpu();
}

OpSchema unary_gradient(const OpTable& ops, const std::string& forward) {
  return ops.gradient_of(forward)
      .infer([](InferContext& c) {
        const char* port = c.has_input("X") ? "X" : "Out";
        require_tensors(c);
        require_same_dtype(c, port, "Out@GRAD");
        require_same_shape(c, port, "Out@GRAD");
        c.set_output("X@GRAD", c.input(port));
      })
      .in_place("Out@GRAD", "X@GRAD");
}

}  // namespace paddle_mini

// What the records of the elementwise operators of one input have in common.
#include "ops/family/unary.h"

namespace paddle_mini {

OpSpec unary(const char* type) {
  return OpSpec(type).input("X", "any shape").output("Out", "shape of X").infer(same_as("X")).in_place("X", "Out");
}

OpSpec unary_gradient(const char* type, Keeps kept) {
  const char* port = port_of(kept);
  return OpSpec(type)
      .input(port, "as in the forward operator")
      .input("Out@GRAD", "shape of Out")
      .output("X@GRAD", "shape of X")
      .infer([port](InferContext& c) {
        require_tensors(c);
        require_same_dtype(c, port, "Out@GRAD");
        require_same_shape(c, port, "Out@GRAD");
        c.set_output("X@GRAD", c.input(port));
      })
      .in_place("Out@GRAD", "X@GRAD");
}

}  // namespace paddle_mini

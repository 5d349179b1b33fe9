// The schema shared by the elementwise operators whose ports have lower-case names.
#include "ops/family/named_unary.h"

namespace paddle_mini {

OpSchema named_unary(const char* type) {
  return OpSchema(type)
      .input("x", "any shape")
      .output("out", "shape of x")
      .infer(same_as("x"))
      .in_place("x", "out")
      .on_gpu();
}

}  // namespace paddle_mini

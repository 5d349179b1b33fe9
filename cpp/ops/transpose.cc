// transpose: Out = X with permuted axes
#include "ops/family/axis_order.h"

namespace paddle_mini {

void define_transpose(OpTable& ops) {
  ops.add(transposition("transpose")
              .attr("data_format", "AnyLayout", "not read")
              .gradient("transpose_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"}));
  ops.add(transposition_gradient(ops, "transpose")
              .optional_input("X", "from transpose; not read: Out@GRAD and `axis` suffice")
              .optional_input("Out", "from transpose; not read"));
}

}  // namespace paddle_mini

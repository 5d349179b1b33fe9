// transpose2: Out = X with permuted axes
#include "ops/family/axis_order.h"
#include "ops/family/reshape.h"

namespace paddle_mini {

void define_transpose2(OpTable& ops) {
  ops.add(transposition("transpose2")
              .optional_output("XShape", "[0] and X's dimensions, without data")
              .infer([](InferContext& c) {
                infer_transposed<false>(c);
                set_x_shape(c);
              })
              .gradient("transpose2_grad", {"XShape", "Out@GRAD"}, {"X@GRAD"}));
  ops.add(transposition_gradient(ops, "transpose2")
              .optional_input("XShape", "from the forward operator; not read: Out@GRAD and `axis` suffice"));
}

}  // namespace paddle_mini

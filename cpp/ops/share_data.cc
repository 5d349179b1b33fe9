// share_data: Out = X
#include "ops/family/reshape.h"

namespace paddle_mini {

void define_share_data(OpTable& ops) {
  ops.add(OpSchema("share_data")
              .doc("Out = X, the same memory where that is possible.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .infer(same_as("X"))
              .no_gradient("in PaddlePaddle it cuts the flow of gradients")
              .view("X", "Out")
              .on_gpu()
              .kernel_for_any<ReshapeKernel>());
}

}  // namespace paddle_mini

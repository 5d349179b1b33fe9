// rnn_memory_helper: Out = X, the memory of a recurrent step of PaddlePaddle 1.x
#include "ops/family/reshape.h"

namespace paddle_mini {

void define_rnn_memory_helper(OpTable& ops) {
  ops.add(OpSchema("rnn_memory_helper")
              .doc("Out = X, in the same memory if possible.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .attr("dtype", static_cast<int32_t>(DType::Float32), "not read: the element type is that of X")
              .infer(same_as("X"))
              .gradient("rnn_memory_helper_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .view("X", "Out")
              .on_gpu()
              .kernel_for_any<ReshapeKernel>());
  ops.add(ops.gradient_of("rnn_memory_helper")
              .doc("X@GRAD = Out@GRAD.")
              .optional_input("X", "as in rnn_memory_helper; not read")
              .optional_input("Out", "from rnn_memory_helper; not read")
              .infer([](InferContext& c) {
                require_tensors(c);
                if (c.has_input("X")) require_same_shape(c, "X", "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
              })
              .view("Out@GRAD", "X@GRAD")
              .kernel_for_any<ReshapeGradKernel>());
}

}  // namespace paddle_mini

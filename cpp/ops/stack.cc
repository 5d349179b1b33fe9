// stack: Y = the tensors X stacked along a new axis
#include "core/second_gradient.h"
#include "ops/family/parts.h"

namespace paddle_mini {
namespace {

struct StackKernel : SlabKernel {
  explicit StackKernel(KernelInit& init) : SlabKernel(init, "Y", "X", true) {}
};
struct StackGradKernel : SlabKernel {
  explicit StackGradKernel(KernelInit& init) : SlabKernel(init, "Y@GRAD", "X@GRAD", false) {}
};

}  // namespace

void define_stack(OpTable& ops) {
  ops.add(OpSchema("stack")
              .doc("Y = the tensors X stacked along a new axis: X[i] is at position i.")
              .input_list("X", "tensors of one shape and element type")
              .output("Y", "shape of the Xs with the new axis")
              .attr("axis", 0, "the position of the new axis in Y; negative ones count from the end")
              .infer([](InferContext& c) { c.set_output("Y", stacked(c, "X")); })
              .gradient("stack_grad", {"X", "Y@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<StackKernel>());
  ops.add(linear_gradient_of(ops, "stack")
              .doc("X@GRAD[i] = the slice of Y@GRAD at position i of the axis.")
              .optional_input_list("X", "as in stack; not read")
              .infer([](InferContext& c) { set_slabs(c, "Y@GRAD", "X@GRAD"); })
              .kernel_for_any<StackGradKernel>());
}

}  // namespace paddle_mini

// unstack: Y[i] = X at position i of an axis
#include "core/second_gradient.h"
#include "ops/family/parts.h"

namespace paddle_mini {
namespace {

struct UnstackKernel : SlabKernel {
  explicit UnstackKernel(KernelInit& init) : SlabKernel(init, "X", "Y", false) {}
};
struct UnstackGradKernel : SlabKernel {
  explicit UnstackGradKernel(KernelInit& init) : SlabKernel(init, "X@GRAD", "Y@GRAD", true) {}
};

}  // namespace

void define_unstack(OpTable& ops) {
  ops.add(OpSchema("unstack")
              .doc("Y[i] = the slice of X at position i of the axis, without that axis.")
              .input("X", "any shape except []")
              .output_list("Y", "one for each position along the axis")
              .attr("axis", 0, "the axis; negative ones count from the end")
              .attr("num", 0, "the number of Y; 0: not given", at_least(0))
              .infer([](InferContext& c) {
                set_slabs(c, "X", "Y");
                int64_t num = c.attr<int32_t>("num"), count = static_cast<int64_t>(c.output_count("Y"));
                require<ShapeError>(num == 0 || num == count, "num is ", num, ", there are ", count, " Y");
              })
              .gradient("unstack_grad", {"Y@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<UnstackKernel>());
  ops.add(linear_gradient_of(ops, "unstack")
              .doc("X@GRAD = the tensors Y@GRAD stacked along the axis.")
              .infer([](InferContext& c) { c.set_output("X@GRAD", stacked(c, "Y@GRAD")); })
              .kernel_for_any<UnstackGradKernel>());
}

}  // namespace paddle_mini

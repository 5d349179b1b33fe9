// transpose: Out = X with permuted axes
#include "ops/family/axis_order.h"

namespace paddle_mini {

void define_transpose(OpTable& ops) {
  ops.add(OpSchema("transpose")
              .doc("Axis i of Out is axis axis[i] of X.")
              .input("X", "any shape")
              .output("Out", "X's dimensions in the new order")
              .required_attr("axis", AttrType::Ints, "a permutation of X's axes; negative ones count from the end")
              .attr("data_format", "AnyLayout", "not read")
              .infer([](InferContext& c) {
                require_tensors(c);
                const VarInfo& x = c.input("X");
                std::vector<int> order = order_of(c.attr<std::vector<int32_t>>("axis"), x.shape.rank(), false);
                c.set_output("Out", x.dtype, transposed(x.shape, order));
              })
              .gradient("transpose_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<TransposeKernel<false>>());
  ops.add(ops.gradient_of("transpose")
              .doc("X@GRAD = Out@GRAD with the axes in X's order.")
              .optional_input("X", "from transpose; not read: Out@GRAD and `axis` suffice")
              .optional_input("Out", "from transpose; not read")
              .infer([](InferContext& c) {
                require_tensors(c);
                const VarInfo& out = c.input("Out@GRAD");
                std::vector<int> order = order_of(c.attr<std::vector<int32_t>>("axis"), out.shape.rank(), true);
                c.set_output("X@GRAD", out.dtype, transposed(out.shape, order));
              })
              .kernel_for_any<TransposeKernel<true>>());
}

}  // namespace paddle_mini

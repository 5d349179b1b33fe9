// transpose2: Out = X with permuted axes
#include "ops/family/axis_order.h"
#include "ops/family/reshape.h"

namespace paddle_mini {

void define_transpose2(OpTable& ops) {
  ops.add(OpSchema("transpose2")
              .doc("Axis i of Out is axis axis[i] of X.")
              .input("X", "any shape")
              .output("Out", "X's dimensions in the new order")
              .optional_output("XShape", "[0] and X's dimensions, without data")
              .required_attr("axis", AttrType::Ints, "a permutation of X's axes; negative ones count from the end")
              .infer([](InferContext& c) {
                require_tensors(c);
                const VarInfo& x = c.input("X");
                std::vector<int> order = order_of(c.attr<std::vector<int32_t>>("axis"), x.shape.rank(), false);
                c.set_output("Out", x.dtype, transposed(x.shape, order));
                set_x_shape(c);
              })
              .gradient("transpose2_grad", {"XShape", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<TransposeKernel<false>>());
  ops.add(ops.gradient_of("transpose2")
              .doc("X@GRAD = Out@GRAD with the axes in X's order.")
              .optional_input("XShape", "from the forward operator; not read: Out@GRAD and `axis` suffice")
              .infer([](InferContext& c) {
                require_tensors(c);
                const VarInfo& out = c.input("Out@GRAD");
                std::vector<int> order = order_of(c.attr<std::vector<int32_t>>("axis"), out.shape.rank(), true);
                c.set_output("X@GRAD", out.dtype, transposed(out.shape, order));
              })
              .kernel_for_any<TransposeKernel<true>>());
}

}  // namespace paddle_mini

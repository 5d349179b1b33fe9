// reshape: Out = the elements of X, in the same order, with another shape
#include "core/second_gradient.h"
#include "ops/family/reshape.h"
#include "ops/family/wanted_shape.h"

namespace paddle_mini {

void define_reshape(OpTable& ops) {
  ops.add(with_tensor_ports(
              OpSchema("reshape").input("X", "any shape").output("Out", "the elements of X in the same order"),
              reshape_ports())
              .doc("Out has the elements of X, in their order, in the shape `shape`.")
              .attr("shape", std::vector<int32_t>{},
                    "shape of Out: 0 copies X's dimension at that position, one -1 is computed from the others")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, reshaped(c));
              })
              .gradient("reshape_grad", with_ports({"X", "Out", "Out@GRAD"}, reshape_ports()), {"X@GRAD"})
              .view("X", "Out")
              .on_gpu()
              .kernel_for_any<ReshapeKernel>());
  ops.add(linear_gradient_of(ops, "reshape")
              .doc("X@GRAD has the elements of Out@GRAD in the shape of X.")
              .shape_only("X")
              .optional_input("Out", "from reshape; not read")
              .attr("shape", std::vector<int32_t>{}, "not read: X has the shape")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_same_dtype(c, "X", "Out@GRAD");
                const Shape &x = c.shape("X"), &out = c.shape("Out@GRAD");
                require<ShapeError>(!x.known() || !out.known() || x.numel() == out.numel(), "Out@GRAD has shape ",
                                    out.str(), ", X had ", x.str());
                gradients_like_inputs(c);
              })
              .view("Out@GRAD", "X@GRAD")
              .kernel_for_any<ReshapeGradKernel>());
}

}  // namespace paddle_mini

// expand_as_v2: Out = X broadcast to the shape of Y
#include "ops/family/broadcast_to.h"

namespace paddle_mini {
namespace {

using Ints = std::vector<int32_t>;

Shape expand_as_wanted_shape(const InferContext& c) {
  if (c.has_input("Y")) return c.shape("Y");
  Shape out;
  for (int32_t dim : c.attr<Ints>("target_shape")) {
    require<ProgramError>(dim >= 0, "attribute 'target_shape' has the dimension ", dim);
    out.push_back(dim);
  }
  return out;
}

// The shape of Out is that of its gradient.
std::vector<OpDesc> expand_again(const OpDesc& first) {
  const std::vector<std::string>& out = first.input("Out@GRAD");
  return {make_op("expand_as_v2", {{"X", gradient_names(first.output("X@GRAD"))}, {"Y", out}},
                  {{"Out", gradient_names(out)}}, first.attrs)};
}

}  // namespace

void define_expand_as_v2(OpTable& ops) {
  ops.add(OpSchema("expand_as_v2")
              .doc("Out = X broadcast to the shape of Y: axes of 1 are repeated, new axes are added in front.")
              .input("X", "any shape")
              .optional_input("Y", "the shape of Out; its values are not read")
              .output("Out", "shape of Y")
              .attr("target_shape", Ints{}, "shape of Out if Y is omitted")
              .infer([](InferContext& c) {
                require_tensors(c);
                Shape out = shape_of(broadcast_maps(c.shape("X"), expand_as_wanted_shape(c), "Out"));
                c.set_output("Out", c.input("X").dtype, out);
              })
              .gradient("expand_as_v2_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<BroadcastToKernel>());
  ops.add(broadcast_to_gradient(ops, "expand_as_v2")
              .gradient(expand_again)
              .kernels<BroadcastToGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

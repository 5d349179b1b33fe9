// expand_as_v2: Out = X broadcast to the shape of Y
#include "ops/family/stretch.h"

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

}  // namespace

void define_expand_as_v2(OpTable& ops) {
  ops.add(OpSchema("expand_as_v2")
              .doc("Out = X stretched to the shape of Y: axes of 1 are repeated, new ones come in front.")
              .input("X", "any shape")
              .optional_input("Y", "the shape of Out; its values are not read")
              .output("Out", "shape of Y")
              .attr("target_shape", Ints{}, "shape of Out where there is no Y")
              .infer([](InferContext& c) {
                require_tensors(c);
                Shape out = shape_of(stretching(c.shape("X"), expand_as_wanted_shape(c), "Out"));
                c.set_output("Out", c.input("X").dtype, out);
              })
              .gradient("expand_as_v2_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<StretchKernel>());
  ops.add(stretch_gradient(ops, "expand_as_v2").kernels<StretchGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

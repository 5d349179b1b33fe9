// expand_as_v2: Out = X broadcast to the shape of Y
#include "math/axis_index_map.h"

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

struct ExpandAsKernel : AxisCopyKernel {
  explicit ExpandAsKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"),
                       broadcast_maps(init.input("X")->tensor.shape, init.output("Out")->tensor.shape, "Out")) {}
};

template <class T>
struct ExpandAsGradKernel : AxisCopyGradKernel<T> {
  explicit ExpandAsGradKernel(KernelInit& init)
      : AxisCopyGradKernel<T>(init, "Out@GRAD", "X@GRAD",
                              broadcast_maps(init.output("X@GRAD")->tensor.shape, init.input("Out@GRAD")->tensor.shape,
                                             "Out")) {}
};

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
              .kernel_for_any<ExpandAsKernel>());
  ops.add(ops.gradient_of("expand_as_v2")
              .doc("X@GRAD = the sum of Out@GRAD over the broadcast axes.")
              .shape_only("X")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_same_dtype(c, "X", "Out@GRAD");
                broadcast_maps(c.shape("X"), c.shape("Out@GRAD"), "Out@GRAD");
                gradients_like_inputs(c);
              })
              .kernels<ExpandAsGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

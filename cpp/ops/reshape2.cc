// reshape2: Out = the elements of X, in the same order, with another shape
#include "ops/family/reshape.h"
#include "ops/family/wanted_shape.h"

namespace paddle_mini {
namespace {

struct ReshapeSecondKernel : MoveKernel {
  explicit ReshapeSecondKernel(KernelInit& init) : MoveKernel(init.input("DDX"), init.output("DDOut")) {}
};

// The attributes do not suffice: the shape may have been a tensor.
std::vector<OpDesc> reshape2_second_gradient(const OpDesc& first) {
  return {make_op("reshape2_grad_grad",
                  {{"DOut", first.input("Out@GRAD")}, {"DDX", gradient_names(first.output("X@GRAD"))}},
                  {{"DDOut", gradient_names(first.input("Out@GRAD"))}}, first.attrs)};
}

void infer_reshape2_second_gradient(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "DOut", "DDX");
  const Shape &out = c.shape("DOut"), &x = c.shape("DDX");
  require<ShapeError>(!x.known() || !out.known() || x.numel() == out.numel(), "DDX has shape ", x.str(), ", DOut has ",
                      out.str());
  c.set_output("DDOut", c.input("DOut"));
}

}  // namespace

void define_reshape2(OpTable& ops) {
  add_reshaping(ops,
                with_tensor_ports(reshaping("reshape2"), reshape_ports())
                    .doc("Out has the elements of X, in their order, in the shape `shape`.")
                    .attr("shape", std::vector<int32_t>{},
                          "shape of Out: 0 copies X's dimension at that position, one -1 is computed from the others")
                    .infer([](InferContext& c) { set_reshaped(c, reshaped(c)); }),
                {}, reshape2_second_gradient);
  ops.add(OpSchema("reshape2_grad_grad")
              .doc("DDOut has the elements of DDX, the gradient of the gradient of X, in the shape of Out.")
              .shape_input("DOut", "the gradient of Out")
              .input("DDX", "the gradient of the gradient of X")
              .output("DDOut", "shape of DOut")
              .infer(infer_reshape2_second_gradient)
              .view("DDX", "DDOut")
              .on_gpu()
              .kernel_for_any<ReshapeSecondKernel>());
}

}  // namespace paddle_mini

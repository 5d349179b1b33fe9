// flip: Out = X with some axes back to front
#include "math/axis_walk.h"

namespace paddle_mini {
namespace {

AxisWalks walks_of(const OpDesc& op, const Shape& x) {
  AxisWalks walks = unchanged_axes(x);
  for (int32_t axis : attr_of<std::vector<int32_t>>(op, "axis")) {
    AxisWalk& walk = walks[normal_axis(axis, x.rank(), "axis")];
    require<ProgramError>(walk.step == 1, "attribute 'axis' names axis ", axis, " twice");
    walk.start = walk.in - 1;
    walk.step = -1;
  }
  return walks;
}

struct FlipKernel : AxisCopyKernel {
  explicit FlipKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"), walks_of(init.op(), init.input("X")->tensor.shape)) {}
};

}  // namespace

void define_flip(OpTable& ops) {
  ops.add(OpSpec("flip")
              .doc("Out = X with each of the axes back to front.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .required_attr("axis", AttrType::Ints, "the axes; negative ones count from the end")
              .infer([](InferContext& c) {
                walks_of(c.op(), c.shape("X"));
                same_as("X")(c);
              })
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op("flip", {{"X", gradient_names(forward.output("Out"))}},
                                                   {{"Out", gradient_names(forward.input("X"))}},
                                                   {{"axis", *forward.attr("axis")}})};
              })
              .kernel_for_any<FlipKernel>());
}

}  // namespace paddle_mini

// The whole records of flip and reverse, which turn axes of a tensor back to front.
#pragma once

#include <string>

#include "math/axis_walk.h"

namespace paddle_mini {

inline AxisWalks reversal_walks(const OpDesc& op, const Shape& x) {
  AxisWalks walks = unchanged_axes(x);
  for (int32_t axis : attr_of<std::vector<int32_t>>(op, "axis")) {
    AxisWalk& walk = walks[normal_axis(axis, x.rank(), "axis")];
    require<ProgramError>(walk.step == 1, "attribute 'axis' names axis ", axis, " twice");
    walk.start = walk.in - 1;
    walk.step = -1;
  }
  return walks;
}

struct ReversalKernel : AxisCopyKernel {
  explicit ReversalKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"), reversal_walks(init.op(), init.input("X")->tensor.shape)) {}
};

// The gradient is turned back by the operator itself.
inline void add_reversal(OpTable& ops, const char* type) {
  ops.add(OpSpec(type)
              .doc("Out = X with each of the axes back to front.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .required_attr("axis", AttrType::Ints, "the axes; negative ones count from the end")
              .infer([](InferContext& c) {
                reversal_walks(c.op(), c.shape("X"));
                same_as("X")(c);
              })
              .gradient([type = std::string(type)](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op(type, {{"X", gradient_names(forward.output("Out"))}},
                                                   {{"Out", gradient_names(forward.input("X"))}},
                                                   {{"axis", *forward.attr("axis")}})};
              })
              .on_gpu()
              .kernel_for_any<ReversalKernel>());
}

}  // namespace paddle_mini

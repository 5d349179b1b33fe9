// The complete schemas of flip and reverse, which reverse axes of a tensor.
#pragma once

#include <string>

#include "math/axis_index_map.h"

namespace paddle_mini {

inline AxisIndexMaps reversal_index_maps(const OpDesc& op, const Shape& x) {
  AxisIndexMaps index_maps = unchanged_axes(x);
  for (int32_t axis : attr_of<std::vector<int32_t>>(op, "axis")) {
    AxisIndexMap& index_map = index_maps[normal_axis(axis, x.rank(), "axis")];
    require<ProgramError>(index_map.step == 1, "attribute 'axis' names axis ", axis, " twice");
    index_map.start = index_map.in - 1;
    index_map.step = -1;
  }
  return index_maps;
}

struct ReversalKernel : AxisCopyKernel {
  explicit ReversalKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"),
                       reversal_index_maps(init.op(), init.input("X")->tensor.shape)) {}
};

// The operator is its own gradient.
inline void add_reversal(OpTable& ops, const char* type) {
  ops.add(OpSchema(type)
              .doc("Out = X reversed along each of the axes.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .required_attr("axis", AttrType::Ints, "the axes; negative ones count from the end")
              .infer([](InferContext& c) {
                reversal_index_maps(c.op(), c.shape("X"));
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

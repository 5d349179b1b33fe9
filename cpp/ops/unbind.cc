// unbind: Out[i] = X at position i of an axis
#include "ops/family/parts.h"

namespace paddle_mini {
namespace {

struct UnbindKernel : SlabKernel {
  explicit UnbindKernel(KernelInit& init) : SlabKernel(init, "X", "Out", false) {}
};

}  // namespace

void define_unbind(OpTable& ops) {
  ops.add(OpSchema("unbind")
              .doc("Out[i] = the slice of X at position i of the axis, without that axis.")
              .input("X", "any shape except []")
              .output_list("Out", "one for each position along the axis")
              .attr("axis", 0, "the axis; negative ones count from the end")
              .infer([](InferContext& c) { set_slabs(c, "X", "Out"); })
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op("stack", {{"X", gradient_names(forward.output("Out"))}},
                                                   {{"Y", gradient_names(forward.input("X"))}},
                                                   {{"axis", *forward.attr("axis")}})};
              })
              .on_gpu()
              .kernel_for_any<UnbindKernel>());
}

}  // namespace paddle_mini

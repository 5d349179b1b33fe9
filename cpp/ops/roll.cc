// roll: Out = X shifted cyclically along some axes
#include "core/second_gradient.h"
#include "math/axis_index_map.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

using Longs = std::vector<int64_t>;

const TensorAttrs kRollAttrs{{"shifts", "ShiftsTensor"}};

// Without axes, the flattened tensor is shifted.
AxisIndexMaps roll_index_maps(const OpDesc& op, const Shape& x) {
  const Longs &shifts = attr_of<Longs>(op, "shifts"), &axes = attr_of<Longs>(op, "axis");
  size_t wanted = axes.empty() ? 1 : axes.size();
  require<ProgramError>(shifts.size() == wanted, "shifts are ", shifts.size(), ", ", wanted, " are needed");
  AxisIndexMaps index_maps = unchanged_axes(axes.empty() ? Shape{x.numel(0, x.rank())} : x);
  for (size_t i = 0; i < wanted; ++i) {
    AxisIndexMap& index_map = index_maps[axes.empty() ? 0 : normal_axis(axes[i], x.rank(), "axis")];
    if (index_map.in <= 0) continue;
    index_map.start = (index_map.start - shifts[i] % index_map.in) % index_map.in;
    index_map.pad_mode = AxisIndexMap::PadMode::Wrap;
  }
  return index_maps;
}

struct RollKernel : AxisCopyKernel {
  explicit RollKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"),
                       roll_index_maps(settled(init, kRollAttrs), init.input("X")->tensor.shape)) {}
};

template <class T>
struct RollGradKernel : AxisCopyGradKernel<T> {
  explicit RollGradKernel(KernelInit& init)
      : AxisCopyGradKernel<T>(init, "Out@GRAD", "X@GRAD",
                              roll_index_maps(settled(init, kRollAttrs), init.output("X@GRAD")->tensor.shape)) {}
};

}  // namespace

void define_roll(OpTable& ops) {
  ops.add(with_tensor_ports(OpSchema("roll"), kRollAttrs)
              .doc("Out = X rolled by shifts along the axes, or the flattened X if there are no axes: elements that "
                   "leave at one end enter at the other.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .attr("shifts", Longs{}, "the number of positions for each of the axes; negative: towards the front")
              .attr("axis", Longs{}, "the axes; negative ones count from the end")
              .infer([](InferContext& c) {
                if (std::optional<OpDesc> op = settled(c, kRollAttrs)) roll_index_maps(*op, c.shape("X"));
                same_as("X")(c);
              })
              .gradient("roll_grad", with_ports({"X", "Out@GRAD"}, kRollAttrs), {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<RollKernel>());
  ops.add(linear_gradient_of(ops, "roll")
              .doc("X@GRAD = Out@GRAD rolled back.")
              .shape_only("X")
              .dtype_from_input("Out@GRAD")
              .kernels<RollGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

// Kernels and schemas of gather and index_select.
#include "core/second_gradient.h"
#include "ops/family/of_complex.h"
#include "ops/family/gathering.h"

#include <cstring>

#include "ops/family/slabs.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

// For gather; index_select has no port Axis.
const TensorAttrs kPickPorts{{"axis", "Axis"}};

const char* axis_name(const OpDesc& op) { return op.attr("dim") ? "dim" : "axis"; }

int pick_axis_of(const OpDesc& op, const Shape& x) {
  const char* name = axis_name(op);
  return normal_axis(attr_of<int32_t>(op, name), x.rank(), name);
}

struct GatheredAlongAxis : AxisSlabs {
  GatheredAlongAxis(KernelInit& init, const Shape& x)
      : AxisSlabs(init, "Index", x, pick_axis_of(settled(init, kPickPorts), x), false) {}
};

// Index is [n], or [n, 1] in older programs.
Shape picked_shape(InferContext& c) {
  require_tensors(c);
  require_index(c, "Index");
  const Shape &x = c.shape("X"), &index = c.shape("Index");
  require<ShapeError>(x.rank() > 0, "X has no dimensions, so there is no axis to gather from");
  bool list = index.rank() <= 1 || (index.rank() == 2 && dims_agree(index[1], 1));
  require<ShapeError>(list, "Index has shape ", index.str(), ", it must have one dimension");
  auto op = settled(c, kPickPorts);
  if (!op) return open_shape(x.rank() - (index.rank() == 0));
  int axis = pick_axis_of(*op, x);
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) out.push_back(x[i]);
    else if (index.rank() > 0) out.push_back(index[0]);
  }
  return out;
}

}  // namespace

void add_pick(OpTable& ops, const char* type, const char* gradient_type, const char* axis) {
  TensorAttrs ports = std::strcmp(axis, "axis") == 0 ? kPickPorts : TensorAttrs{};
  OpSchema forward(type);
  forward.input("X", "any shape except []")
      .input("Index", "[n], [n, 1] or one number, int32 or int64")
      .output("Out", "shape of X with n elements along the axis");
  ops.add(
      with_tensor_ports(forward, ports)
          .doc("Out = the slices of X along the axis at the positions in Index. A position out of range is an error.")
          .attr(axis, 0, "the axis; negative ones count from the end")
          .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, picked_shape(c)); })
          .gradient(gradient_type, with_ports({"X", "Index", "Out@GRAD"}, ports), {"X@GRAD"})
          .checks_data()
          .on_gpu()
          .kernel_for_any<PickKernel<GatheredAlongAxis>>());
  ops.add(with_complex<PickGradKernel<GatheredAlongAxis>::For>(
      linear_gradient_of(ops, type)
          .doc("X@GRAD at a position = the sum of Out@GRAD over the elements of Index that name it.")
          .shape_only("X")
          .checks_data()
          .kernels<PickGradKernel<GatheredAlongAxis>::For, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini

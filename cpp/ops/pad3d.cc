// pad3d: Out = volumes X padded with a constant, by reflection, with the nearest element or circularly
#include "core/second_gradient.h"
#include "math/axis_index_map.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

using Ints = std::vector<int32_t>;

const TensorAttrs kPad3dPorts{{"paddings", "Paddings"}};

AxisIndexMap::PadMode pad3d_edge_of(const std::string& mode) {
  if (mode == "reflect") return AxisIndexMap::PadMode::Reflect;
  if (mode == "replicate") return AxisIndexMap::PadMode::Replicate;
  return mode == "circular" ? AxisIndexMap::PadMode::Wrap : AxisIndexMap::PadMode::Constant;
}

// The order of paddings is left, right, top, bottom, front, back: the last axis comes first.
AxisIndexMaps pad3d_index_maps(const OpDesc& op, const Shape& x) {
  const Ints& paddings = attr_of<Ints>(op, "paddings");
  const std::string& mode = attr_of<std::string>(op, "mode");
  require<ShapeError>(x.rank() == 5, "X has shape ", x.str(), ", 5 dimensions are needed");
  require<ProgramError>(paddings.size() == 6, "paddings are ", paddings.size(), ", it must have 6");
  AxisIndexMaps index_maps = unchanged_axes(x);
  int last = attr_of<std::string>(op, "data_format") == "NDHWC" ? 3 : 4;
  for (int i = 0; i < 3; ++i) {
    AxisIndexMap& index_map = index_maps[last - i];
    int64_t before = paddings[2 * i], after = paddings[2 * i + 1];
    require<ShapeError>(index_map.in < 0 || index_map.in + before + after >= 0, "X ", x.str(), " has ", index_map.in,
                        " elements along axis ", last - i, ", of which paddings remove ", -(before + after));
    if (before == 0 && after == 0) continue;
    index_map.start = -before;
    index_map.pad_mode = pad3d_edge_of(mode);
    int64_t needed = mode == "constant" ? 0 : mode == "reflect" ? std::max(before, after) + 1 : 1;
    require<ShapeError>(index_map.in < 0 || index_map.in >= needed, "X ", x.str(), " has ", index_map.in,
                        " elements along axis ", last - i, "; with this padding mode ", mode, " needs ", needed);
    index_map.out = index_map.in < 0 ? -1 : index_map.in + before + after;
  }
  return index_maps;
}

Shape pad3d_out_shape(InferContext& c, const char* port) {
  const Shape& x = c.shape(port);
  if (auto op = settled(c, kPad3dPorts)) return shape_of(pad3d_index_maps(*op, x));
  require_rank(c, port, 5);
  Shape out = x;
  int first = c.attr<std::string>("data_format") == "NDHWC" ? 1 : 2;
  for (int i = first; i < first + 3; ++i) out[i] = -1;
  return out;
}

struct Pad3dKernel : AxisCopyKernel {
  explicit Pad3dKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"),
                       pad3d_index_maps(settled(init, kPad3dPorts), init.input("X")->tensor.shape),
                       static_cast<double>(init.attr<float>("value"))) {}
};

struct Pad3dSecondKernel : AxisCopyKernel {
  explicit Pad3dSecondKernel(KernelInit& init)
      : AxisCopyKernel(init.input("grad_x@GRAD"), init.output("grad_out@GRAD"),
                       pad3d_index_maps(settled(init, kPad3dPorts), init.input("grad_x@GRAD")->tensor.shape), 0.0) {}
};

template <class T>
struct Pad3dGradKernel : AxisCopyGradKernel<T> {
  explicit Pad3dGradKernel(KernelInit& init)
      : AxisCopyGradKernel<T>(init, "Out@GRAD", "X@GRAD",
                              pad3d_index_maps(settled(init, kPad3dPorts), init.output("X@GRAD")->tensor.shape)) {}
};

}  // namespace

void define_pad3d(OpTable& ops) {
  ops.add(with_tensor_ports(
              OpSchema("pad3d")
                  .input("X", "[images, channels, depth, height, width], or another order according to data_format")
                  .output("Out", "X's dimensions plus the paddings"),
              kPad3dPorts)
              .required_attr("paddings", AttrType::Ints,
                             "the numbers of elements before and after X along the width, the height and the depth")
              .attr("mode", "constant", "the value of the border",
                    one_of({"constant", "reflect", "replicate", "circular"}))
              .attr("value", 0.0f, "the constant")
              .attr("data_format", "NCDHW", "the order of X's axes", one_of({"NCDHW", "NDHWC"}))
              .doc("Out = X with a border around each volume: value, X mirrored at its outermost elements, these "
                   "elements repeated, or X continued periodically.")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, pad3d_out_shape(c, "X"));
              })
              .gradient("pad3d_grad", with_ports({"X", "Out@GRAD"}, kPad3dPorts), {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<Pad3dKernel>());
  ops.add(linear_gradient_of(ops, "pad3d", {{"value", 0.0f}})
              .doc("X@GRAD of an element = the sum of Out@GRAD over the positions that hold it.")
              .shape_only("X")
              .kernels<Pad3dGradKernel, float, double>());
  OpSchema second("pad3d_double_grad");
  second.doc("The gradient of pad3d_grad, as PaddlePaddle's programs write it: pad3d, with 0 as the constant.")
      .input("grad_x@GRAD", "the gradient of the gradient of X")
      .output("grad_out@GRAD", "the gradient of the gradient of Out");
  for (const AttrSchema& attr : ops.at("pad3d").attrs()) {
    if (attr.default_value) second.attr(attr.name.c_str(), *attr.default_value, attr.doc.c_str(), attr.check);
    else second.required_attr(attr.name.c_str(), attr.type, attr.doc.c_str(), attr.check);
  }
  ops.add(with_tensor_ports(second, kPad3dPorts)
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("grad_out@GRAD", c.input("grad_x@GRAD").dtype, pad3d_out_shape(c, "grad_x@GRAD"));
              })
              .no_gradient("programs written here take pad3d for it")
              .on_gpu()
              .kernel_for_any<Pad3dSecondKernel>());
}

}  // namespace paddle_mini

// pad2d: Out = images X padded with a constant, by reflection or with the nearest pixel
#include "core/second_gradient.h"
#include "math/axis_index_map.h"

namespace paddle_mini {
namespace {

AxisIndexMap::PadMode pad2d_edge_of(const std::string& mode) {
  if (mode == "reflect") return AxisIndexMap::PadMode::Reflect;
  return mode == "edge" ? AxisIndexMap::PadMode::Replicate : AxisIndexMap::PadMode::Constant;
}

// The order of paddings is above, below, left, right.
AxisIndexMaps pad2d_index_maps(const OpDesc& op, const Shape& x) {
  const auto& paddings = attr_of<std::vector<int32_t>>(op, "paddings");
  const std::string& mode = attr_of<std::string>(op, "mode");
  require<ShapeError>(x.rank() == 4, "X has shape ", x.str(), ", 4 dimensions are needed");
  require<ProgramError>(paddings.size() == 4, "paddings are ", paddings.size(), ", it must have 4");
  AxisIndexMaps index_maps = unchanged_axes(x);
  int rows = attr_of<std::string>(op, "data_format") == "NHWC" ? 1 : 2;
  for (int i : {0, 1}) {
    AxisIndexMap& index_map = index_maps[static_cast<size_t>(rows + i)];
    int64_t before = paddings[static_cast<size_t>(2 * i)], after = paddings[static_cast<size_t>(2 * i + 1)];
    require<ProgramError>(before >= 0 && after >= 0, "paddings has ", std::min(before, after));
    if (before == 0 && after == 0) continue;
    index_map.start = -before;
    index_map.pad_mode = pad2d_edge_of(mode);
    int64_t needed = mode == "constant" ? 0 : mode == "reflect" ? std::max(before, after) + 1 : 1;
    require<ShapeError>(index_map.in < 0 || index_map.in >= needed, "X ", x.str(), " has ", index_map.in,
                        " elements along axis ", rows + i, "; with this padding mode ", mode, " needs ", needed);
    index_map.out = index_map.in < 0 ? -1 : index_map.in + before + after;
  }
  return index_maps;
}

struct Pad2dKernel : AxisCopyKernel {
  explicit Pad2dKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"), pad2d_index_maps(init.op(), init.input("X")->tensor.shape),
                       static_cast<double>(init.attr<float>("pad_value"))) {}
};

template <class T>
struct Pad2dGradKernel : AxisCopyGradKernel<T> {
  explicit Pad2dGradKernel(KernelInit& init)
      : AxisCopyGradKernel<T>(init, "Out@GRAD", "X@GRAD",
                              pad2d_index_maps(init.op(), init.output("X@GRAD")->tensor.shape)) {}
};

}  // namespace

void define_pad2d(OpTable& ops) {
  ops.add(OpSchema("pad2d")
              .doc("Out = X with a border around each image: pad_value, X mirrored at its outermost pixels, or these "
                   "pixels repeated.")
              .input("X", "[images, channels, height, width], or channels last")
              .output("Out", "X's dimensions, with the paddings")
              .required_attr("paddings", AttrType::Ints, "rows above and below X, columns left and right of it")
              .attr("mode", "constant", "the value of the border", one_of({"constant", "reflect", "edge"}))
              .attr("pad_value", 0.0f, "the constant")
              .attr("data_format", "NCHW", "whether axis 1 or the last axis has the channels", one_of({"NCHW", "NHWC"}))
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, shape_of(pad2d_index_maps(c.op(), c.shape("X"))));
              })
              .gradient("pad2d_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<Pad2dKernel>());
  ops.add(linear_gradient_of(ops, "pad2d", {{"pad_value", 0.0f}})
              .doc("X@GRAD of an element = the sum of Out@GRAD over the positions that hold it.")
              .shape_only("X")
              .kernels<Pad2dGradKernel, float, double>());
}

}  // namespace paddle_mini

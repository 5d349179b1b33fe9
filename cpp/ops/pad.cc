// pad: Out = X padded with a constant
#include "core/second_gradient.h"
#include "math/axis_index_map.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

using Ints = std::vector<int32_t>;

AxisIndexMaps pad_index_maps(const OpDesc& op, const Shape& x) {
  const Ints& paddings = attr_of<Ints>(op, "paddings");
  require<ShapeError>(paddings.size() == 2 * static_cast<size_t>(x.rank()), "paddings are ", paddings.size(), ", X ",
                      x.str(), " needs ", 2 * x.rank());
  AxisIndexMaps index_maps = unchanged_axes(x);
  for (size_t i = 0; i < index_maps.size(); ++i) {
    int64_t before = paddings[2 * i], after = paddings[2 * i + 1];
    require<ProgramError>(before >= 0 && after >= 0, "paddings has ", std::min(before, after), " for axis ", i);
    index_maps[i].start = -before;
    index_maps[i].out = index_maps[i].in < 0 ? -1 : index_maps[i].in + before + after;
    index_maps[i].pad_mode = AxisIndexMap::PadMode::Constant;
  }
  return index_maps;
}

struct PadKernel : AxisCopyKernel {
  explicit PadKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"), pad_index_maps(init.op(), init.input("X")->tensor.shape),
                       static_cast<double>(init.attr<float>("pad_value"))) {}
};

template <class T>
struct PadGradKernel : AxisCopyGradKernel<T> {
  explicit PadGradKernel(KernelInit& init)
      : AxisCopyGradKernel<T>(init, "Out@GRAD", "X@GRAD",
                              pad_index_maps(init.op(), init.output("X@GRAD")->tensor.shape)) {}
};

// The shape of X, computed from that of Out@GRAD, the gradient's only input.
Shape inner_shape(const InferContext& c) {
  const Ints& paddings = c.attr<Ints>("paddings");
  Shape x = c.shape("Out@GRAD");
  require<ShapeError>(paddings.size() == 2 * static_cast<size_t>(x.rank()), "paddings are ", paddings.size(),
                      ", Out@GRAD ", x.str(), " needs ", 2 * x.rank());
  for (int i = 0; i < x.rank(); ++i) {
    int64_t before = paddings[2 * static_cast<size_t>(i)], after = paddings[2 * static_cast<size_t>(i) + 1];
    require<ProgramError>(before >= 0 && after >= 0, "paddings has ", std::min(before, after), " for axis ", i);
    require<ShapeError>(x[i] < 0 || x[i] >= before + after, "Out@GRAD ", c.shape("Out@GRAD").str(),
                        " is smaller than the paddings along axis ", i);
    if (x[i] >= 0) x[i] -= before + after;
  }
  return x;
}

}  // namespace

void define_pad(OpTable& ops) {
  ops.add(OpSchema("pad")
              .doc("Out = X with pad_value around it.")
              .input("X", "any shape")
              .output("Out", "X's dimensions plus the paddings")
              .required_attr("paddings", AttrType::Ints, "for each axis the numbers of elements before and after X")
              .attr("pad_value", 0.0f, "the value of the padding")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, shape_of(pad_index_maps(c.op(), c.shape("X"))));
              })
              .gradient("pad_grad", {"Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<PadKernel>());
  ops.add(with_complex<PadGradKernel>(linear_gradient_of(ops, "pad", {{"pad_value", 0.0f}})
                                          .doc("X@GRAD = Out@GRAD without the border.")
                                          .infer([](InferContext& c) {
                                            require_tensors(c);
                                            c.set_output("X@GRAD", c.input("Out@GRAD").dtype, inner_shape(c));
                                          })
                                          .kernels<PadGradKernel, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini

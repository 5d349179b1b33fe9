// maxout: each channel of Out is the maximum of `groups` adjacent channels of X
#include "math/axis_index_map.h"
#include "math/for_each_index.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// X viewed as [outer, groups, inner], where outer counts the images times the channels of Out.
struct Blocks {
  int64_t outer, groups, inner;

  Blocks(const KernelInit& init, const Shape& x) : groups(init.attr<int32_t>("groups")) {
    int axis = normal_axis(init.attr<int32_t>("axis"), x.rank(), "axis");
    outer = x.numel(0, axis) * (x[axis] / groups), inner = x.numel(axis + 1, x.rank());
  }
};

template <class T>
struct MaxoutKernel : Kernel {
  In<T> x;
  Out<T> out;
  Blocks blocks;

  explicit MaxoutKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), blocks(init, x.shape()) {}

  void run(KernelContext& context) override;
};

template <class T>
struct MaxoutGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  Blocks blocks;

  explicit MaxoutGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        blocks(init, x.shape()) {}

  void run(KernelContext& context) override;
};

Shape maxout_out_shape(const InferContext& c) {
  require_tensors(c);
  Shape out = c.shape("X");
  int axis = normal_axis(c.attr<int32_t>("axis"), out.rank(), "axis");
  int64_t groups = c.attr<int32_t>("groups");
  require<ShapeError>(out[axis] < 0 || out[axis] % groups == 0, "X has shape ", out.str(), ": ", out[axis],
                      " channels, which can't be divided by ", groups, " (groups)");
  if (out[axis] > 0) out[axis] /= groups;
  return out;
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(maxout)

namespace paddle_mini {

void define_maxout(OpTable& ops) {
  ops.add(OpSchema("maxout")
              .doc("Channel c of Out = the maximum over the channels c groups to c groups + groups - 1 of X "
                   "(Goodfellow et al. 2013); NaN if one of them is NaN.")
              .required_attr("groups", AttrType::Int, "the number of channels that become one", at_least(1))
              .attr("axis", 1, "the axis of the channels; negative ones count from the end")
              .input("X", "[images, channels, height, width], or channels on another axis")
              .output("Out", "shape of X with channels / groups")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, maxout_out_shape(c)); })
              .gradient("maxout_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<MaxoutKernel, float, double>());
  ops.add(ops.gradient_of("maxout")
              .doc("X@GRAD = Out@GRAD at the first channel of each group that equals Out; 0 elsewhere.")
              .kernels<MaxoutGradKernel, float, double>());
}

}  // namespace paddle_mini

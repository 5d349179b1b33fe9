// group_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, over groups of channels of an image
#include "core/op_table.h"
#include "ops/family/group_normalize.h"
#include "ops/family/mixed_precision.h"

namespace paddle_mini {
namespace {

template <class Context>
bool group_norm_channels_last(const Context& c) {
  return c.template attr<std::string>("data_layout") == "NHWC";
}

template <class T>
GroupNormalize<T> groups_of(const KernelInit& init, const Shape& x) {
  return {ChannelRows(x, group_norm_channels_last(init)), init.attr<int32_t>("groups")};
}

template <class T>
T one_by_group_deviation(T variance, float epsilon) {
  return T(1) / std::sqrt(variance + static_cast<T>(epsilon));
}

template <class T>
struct GroupNormKernel : Kernel {
  In<T> x, scale, bias;
  Out<T> y, mean, variance;
  GroupNormalize<T> groups;
  float epsilon;

  explicit GroupNormKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), bias(init, "Bias", optional_port), y(init, "Y"),
        mean(init, "Mean"), variance(init, "Variance"), groups(groups_of<T>(init, x.shape())),
        epsilon(init.attr<float>("epsilon")) {}

  void run(KernelContext& context) override;
};

template <class T>
struct GroupNormGradKernel : Kernel {
  In<T> x, scale, mean, variance, y_gradient;
  Out<T> x_gradient, scale_gradient, bias_gradient;
  GroupNormalize<T> groups;
  float epsilon;
  Scratch<T> sums;  // for all groups; only on a GPU

  explicit GroupNormGradKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), mean(init, "Mean"), variance(init, "Variance"),
        y_gradient(init, "Y@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        scale_gradient(init, "Scale@GRAD", optional_port), bias_gradient(init, "Bias@GRAD", optional_port),
        groups(groups_of<T>(init, x.shape())), epsilon(init.attr<float>("epsilon")),
        sums(init, kOnGpu ? 2 * groups.group_count() : 0) {}

  void run(KernelContext& context) override;
};

Shape group_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() >= 2, "X has shape ", x.str(), ", it must have axes of images and of channels");
  int64_t groups = c.attr<int32_t>("groups"), channels = x[group_norm_channels_last(c) ? x.rank() - 1 : 1];
  require<ShapeError>(channels < 0 || channels % groups == 0, "X has shape ", x.str(), ": ", channels,
                      " channels, which can't be divided into ", groups, " groups");
  for (const char* port : {"Scale", "Bias"}) {
    if (!c.has_input(port)) continue;
    require<ShapeError>(shapes_agree(c.shape(port), Shape{channels}), port, " has shape ", c.shape(port).str(), ", X ",
                        x.str(), " has ", channels, " channels");
  }
  return {x[0], groups};
}

void infer_group_norm_gradient(InferContext& c) {
  Shape groups = group_shape(c);
  require_same_dtype(c, "X", "Y@GRAD");
  require_same_shape(c, "X", "Y@GRAD");
  require_wide_dtype(c, {"Scale", "Bias", "Mean", "Variance"});
  for (const char* port : {"Mean", "Variance"}) {
    require<ShapeError>(same_shape(c.shape(port), groups), port, " has shape ", c.shape(port).str(), ", with X ",
                        c.shape("X").str(), " it must be ", groups.str());
  }
  gradients_like_inputs(c);
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(group_norm)

namespace paddle_mini {

void define_group_norm(OpTable& ops) {
  ops.add(OpSchema("group_norm")
              .doc("Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, with the mean and the variance of each "
                   "group of neighbouring channels of each image (Wu & He 2018).")
              .attr("epsilon", 1e-5f, "added to the variance", between(0, 1))
              .required_attr("groups", AttrType::Int, "the number of groups of channels", at_least(1))
              .attr("data_layout", "NCHW", "whether axis 1 or the last axis has the channels", one_of({"NCHW", "NHWC"}))
              .input("X", "[images, channels, ...], or channels last according to data_layout")
              .optional_input("Scale", "[channels]; 1 if omitted")
              .optional_input("Bias", "[channels]; 0 if omitted")
              .output("Y", "shape of X")
              .output("Mean", "[images, groups]")
              .output("Variance", "[images, groups]; divided by the number of elements, without epsilon")
              .infer([](InferContext& c) {
                Shape groups = group_shape(c);
                c.set_output("Y", c.input("X"));
                DType dtype = require_wide_dtype(c, {"Scale", "Bias"});
                for (const char* port : {"Mean", "Variance"}) c.set_output(port, dtype, groups);
              })
              .gradient("group_norm_grad", {"X", "Y", "Scale", "Bias", "Mean", "Variance", "Y@GRAD"},
                        {"X@GRAD", "Scale@GRAD", "Bias@GRAD"})
              .in_place("X", "Y")
              .on_gpu()
              .kernels<GroupNormKernel, float, double>());
  ops.add(ops.gradient_of("group_norm")
              .doc("Bias@GRAD = sum of Y@GRAD and Scale@GRAD = sum of Y@GRAD xhat over each channel; X@GRAD = (G - the "
                   "group's mean of G - xhat times its mean of G xhat) / deviation with G = Y@GRAD Scale, xhat = "
                   "(X - Mean) / deviation.")
              .optional_input("Y", "from group_norm; its values are not read")
              .optional_input("Bias", "as in group_norm; its values are not read")
              .infer(infer_group_norm_gradient)
              .in_place("Y@GRAD", "X@GRAD")
              .kernels<GroupNormGradKernel, float, double>());
}

}  // namespace paddle_mini

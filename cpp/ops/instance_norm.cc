// instance_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, over each channel of an image
#include "core/op_table.h"
#include "ops/family/group_normalize.h"
#include "ops/family/mixed_precision.h"

namespace paddle_mini {
namespace {

template <class T>
GroupNormalize<T> channels_of(const Shape& x) {
  ChannelRows rows(x, false);
  return {rows, rows.channels};
}

template <class T>
struct InstanceNormKernel : Kernel {
  In<T> x, scale, bias;
  Out<T> y, saved_mean, saved_variance;
  GroupNormalize<T> channels;
  T epsilon;
  Scratch<T> own;  // statistics that are not saved; only on a GPU

  explicit InstanceNormKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), bias(init, "Bias", optional_port), y(init, "Y"),
        saved_mean(init, "SavedMean", optional_port), saved_variance(init, "SavedVariance", optional_port),
        channels(channels_of<T>(x.shape())), epsilon(static_cast<T>(init.attr<float>("epsilon"))),
        own(init, kOnGpu && !(saved_mean && saved_variance) ? 2 * channels.group_count() : 0) {}

  void run(KernelContext& context) override;
};

template <class T>
struct InstanceNormGradKernel : Kernel {
  In<T> x, scale, saved_mean, saved_variance, y_gradient;
  Out<T> x_gradient, scale_gradient, bias_gradient;
  GroupNormalize<T> channels;
  Scratch<T> sums;  // for all channels; only on a GPU

  explicit InstanceNormGradKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), saved_mean(init, "SavedMean"),
        saved_variance(init, "SavedVariance"), y_gradient(init, "Y@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        scale_gradient(init, "Scale@GRAD", optional_port), bias_gradient(init, "Bias@GRAD", optional_port),
        channels(channels_of<T>(x.shape())), sums(init, kOnGpu ? 2 * channels.group_count() : 0) {}

  void run(KernelContext& context) override;
};

// Returns the shape of the saved statistics.
Shape saved_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() >= 2 && x.rank() <= 5, "X has shape ", x.str(), ", it must have 2 to 5 dimensions");
  for (const char* port : {"Scale", "Bias"}) {
    if (!c.has_input(port)) continue;
    require<ShapeError>(shapes_agree(c.shape(port), Shape{x[1]}), port, " has shape ", c.shape(port).str(), ", X ",
                        x.str(), " has ", x[1], " channels");
  }
  return {x.numel(0, 2)};
}

// Bias is not an input of the gradient, and Scale may be absent; both have one element for each channel.
void infer_instance_norm_gradient(InferContext& c) {
  Shape saved = saved_shape(c);
  require_same_dtype(c, "X", "Y@GRAD");
  require_same_shape(c, "X", "Y@GRAD");
  DType dtype = require_wide_dtype(c, {"Scale", "SavedMean", "SavedVariance"});
  for (const char* port : {"SavedMean", "SavedVariance"}) {
    require<ShapeError>(same_shape(c.shape(port), saved), port, " has shape ", c.shape(port).str(), ", with X ",
                        c.shape("X").str(), " it must be ", saved.str());
  }
  c.set_output("X@GRAD", c.input("X"));
  for (const char* port : {"Scale@GRAD", "Bias@GRAD"}) c.set_output(port, dtype, {c.shape("X")[1]});
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(instance_norm)

namespace paddle_mini {

void define_instance_norm(OpTable& ops) {
  ops.add(OpSchema("instance_norm")
              .doc("Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, with the mean and the variance of each "
                   "channel of each image (Ulyanov et al. 2016).")
              .input("X", "[images, channels, ...], up to 5 dimensions")
              .optional_input("Scale", "[channels]; 1 if omitted")
              .optional_input("Bias", "[channels]; 0 if omitted")
              .output("Y", "shape of X")
              .optional_output("SavedMean", "[images channels], for the gradient")
              .optional_output("SavedVariance", "[images channels], for the gradient: 1 / sqrt(variance + epsilon)")
              .attr("epsilon", 1e-5f, "added to the variance", between(0, 1))
              .infer([](InferContext& c) {
                Shape saved = saved_shape(c);
                c.set_output("Y", c.input("X"));
                DType dtype = require_wide_dtype(c, {"Scale", "Bias"});
                for (const char* port : {"SavedMean", "SavedVariance"}) c.set_output(port, dtype, saved);
              })
              .gradient("instance_norm_grad", {"X", "Scale", "SavedMean", "SavedVariance", "Y@GRAD"},
                        {"X@GRAD", "Scale@GRAD", "Bias@GRAD"})
              .in_place("X", "Y")
              .on_gpu()
              .kernels<InstanceNormKernel, float, double>());
  ops.add(ops.gradient_of("instance_norm")
              .doc("Bias@GRAD = sum of Y@GRAD and Scale@GRAD = sum of Y@GRAD xhat over each channel; X@GRAD = (G - its "
                   "mean over the channel of the image - xhat times the mean of G xhat) SavedVariance with G = Y@GRAD "
                   "Scale, xhat = (X - SavedMean) SavedVariance.")
              .attr("epsilon", 1e-5f, "as in instance_norm; not read", between(0, 1))
              .infer(infer_instance_norm_gradient)
              .in_place("Y@GRAD", "X@GRAD")
              .kernels<InstanceNormGradKernel, float, double>());
}

}  // namespace paddle_mini

// batch_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, channel by channel
#include <cmath>

#include "core/op_table.h"
#include "core/running_statistics.h"
#include "ops/batch_norm.h"
#include "ops/family/mixed_precision.h"

namespace paddle_mini {
namespace {

// Whether the running statistics are used instead of those of this batch.
template <class Context>
bool running_statistics_used(const Context& c) {
  return uses_running_statistics([&](const char* attr) { return c.template attr<bool>(attr); });
}

template <class T>
T one_by_batch_deviation(T variance, float epsilon) {
  return T(1) / std::sqrt(variance + static_cast<T>(epsilon));
}

template <class T>
struct BatchNormKernel : Kernel {
  In<T> x, scale, bias, mean, variance;
  Out<T> y, mean_out, variance_out, saved_mean, saved_variance;
  BatchChannels layout;
  float momentum, epsilon;
  bool use_running;
  Scratch<T> factor, offset;
  Scratch<double> totals;

  explicit BatchNormKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), bias(init, "Bias", optional_port), mean(init, "Mean"),
        variance(init, "Variance"), y(init, "Y"), mean_out(init, "MeanOut"), variance_out(init, "VarianceOut"),
        saved_mean(init, "SavedMean"), saved_variance(init, "SavedVariance"),
        layout(x.shape(), init.attr<std::string>("data_layout")), momentum(init.attr<float>("momentum")),
        epsilon(init.attr<float>("epsilon")), use_running(running_statistics_used(init)), factor(init, on_host()),
        offset(init, on_host()), totals(init, on_host()) {}

  int64_t on_host() const { return kOnGpu ? 0 : layout.channels; }

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  void carry_statistics(BatchChannels::Range range);
  void batch_statistics(KernelContext& context, BatchChannels::Range range);
};

// With n elements a channel, xhat = (X - mean) * s, s = 1 / deviation (Ioffe & Szegedy 2015):
//   Bias@GRAD = sum dY, Scale@GRAD = sum dY xhat, X@GRAD = Scale s (dY - Bias@GRAD / n - xhat Scale@GRAD / n)
// Running statistics do not depend on X, so the two subtracted terms vanish.
template <class T>
struct BatchNormGradKernel : Kernel {
  In<T> x, scale, y_gradient, mean, deviation, running_mean, running_variance;
  Out<T> x_gradient, scale_gradient, bias_gradient;
  BatchChannels layout;
  float epsilon;
  bool use_running;
  Scratch<T> center, s, p, q, r;
  Scratch<double> to_bias, to_scale;

  explicit BatchNormGradKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), y_gradient(init, "Y@GRAD"), mean(init, "SavedMean"),
        deviation(init, "SavedVariance"), running_mean(init, "MeanOut", optional_port),
        running_variance(init, "VarianceOut", optional_port), x_gradient(init, "X@GRAD", optional_port),
        scale_gradient(init, "Scale@GRAD", optional_port), bias_gradient(init, "Bias@GRAD", optional_port),
        layout(x.shape(), init.attr<std::string>("data_layout")), epsilon(init.attr<float>("epsilon")),
        use_running(running_statistics_used(init)), center(init, on_host()), s(init, on_host()), p(init, on_host()),
        q(init, on_host()), r(init, on_host()), to_bias(init, layout.channels), to_scale(init, layout.channels) {}

  int64_t on_host() const { return kOnGpu ? 0 : layout.channels; }

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  void run_range(KernelContext& context, BatchChannels::Range range, bool passes);
};

// Checks that every named port that is given is [channels]. Returns their element type.
DType require_channel_ports(const InferContext& c, std::initializer_list<const char*> ports) {
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() >= 2 && x.rank() <= 5, "X has shape ", x.str(), ", it must have 2 to 5 dimensions");
  int64_t channels = x[batch_channel_axis(x, c.attr<std::string>("data_layout"))];
  for (const char* port : ports) {
    if (!c.has_input(port)) continue;
    require<ShapeError>(shapes_agree(c.shape(port), Shape{channels}), port, " has shape ", c.shape(port).str(), ", X ",
                        x.str(), " has ", channels, " channels");
  }
  return require_wide_dtype(c, ports);
}

void infer_batch_norm(InferContext& c) {
  DType dtype = require_channel_ports(c, {"Scale", "Bias", "Mean", "Variance"});
  const Shape& x = c.shape("X");
  Shape channels{x[batch_channel_axis(x, c.attr<std::string>("data_layout"))]};
  c.set_output("Y", c.input("X"));
  for (const char* port : {"MeanOut", "VarianceOut", "SavedMean", "SavedVariance"}) c.set_output(port, dtype, channels);
  c.set_output("ReserveSpace", dtype, Shape{0});
}

void infer_batch_norm_grad(InferContext& c) {
  require_channel_ports(c, {"Scale", "Bias", "SavedMean", "SavedVariance", "MeanOut", "VarianceOut"});
  require_same_dtype(c, "X", "Y@GRAD");
  require_same_shape(c, "X", "Y@GRAD");
  require<ProgramError>(!running_statistics_used(c) || (c.has_input("MeanOut") && c.has_input("VarianceOut")),
                        "inputs MeanOut and VarianceOut are missing: the operator uses the running statistics");
  gradients_like_inputs(c);
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(batch_norm)

namespace paddle_mini {

void define_batch_norm(OpTable& ops) {
  ops.add(OpSchema("batch_norm")
              .doc("Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias for every channel, with mean and variance "
                   "of the batch. MeanOut = momentum Mean + (1 - momentum) mean, and VarianceOut likewise. The "
                   "variance is the sum of squared differences divided by the number of elements. In testing, mean and "
                   "variance are Mean and Variance. In training, a channel of one element is copied.")
              .input("X",
                     "2 to 5 dimensions, channels on axis 1 (NCHW) or the last (NHWC); of 16 bits, the other inputs "
                     "may be float32")
              .optional_input("Scale", "[channels]; 1 if omitted")
              .optional_input("Bias", "[channels]; 0 if omitted")
              .input("Mean", "[channels]: running statistics")
              .input("Variance", "[channels]: running statistics")
              .output("Y", "shape of X")
              .output("MeanOut", "the same variable as Mean")
              .output("VarianceOut", "the same variable as Variance")
              .output("SavedMean", "[channels]: the mean of this run")
              .output("SavedVariance", "[channels]: 1 / sqrt(variance + epsilon) of this run")
              .optional_output("ReserveSpace", "for other devices; empty")
              .attr("momentum", 0.9f, "decay rate of the running statistics", between(0, 1))
              .attr("epsilon", 1e-5f, "added to the variance", between(0, 1))
              .attr("is_test", false, "whether the operator reads the running statistics and leaves them unchanged")
              .attr("use_global_stats", false, "as is_test, also in training")
              .attr("trainable_statistics", false,
                    "whether the operator uses the statistics of the batch even in testing")
              .attr("data_layout", "NCHW", "whether axis 1 or the last axis has the channels", one_of({"NCHW", "NHWC"}))
              .infer(infer_batch_norm)
              .gradient("batch_norm_grad",
                        {"X", "Scale", "Bias", "SavedMean", "SavedVariance", "MeanOut", "VarianceOut", "Y@GRAD"},
                        {"X@GRAD", "Scale@GRAD", "Bias@GRAD"})
              .updates("Mean", "MeanOut")
              .updates("Variance", "VarianceOut")
              .on_gpu()
              .kernels<BatchNormKernel, float, double>());
  ops.add(ops.gradient_of("batch_norm")
              .doc("Bias@GRAD = sum Y@GRAD and Scale@GRAD = sum Y@GRAD xhat over each channel, X@GRAD = Scale / "
                   "deviation * (Y@GRAD - mean(Y@GRAD) - xhat mean(Y@GRAD xhat)), with xhat = (X - mean) / deviation; "
                   "with running statistics the two means are not subtracted.")
              .optional_input("Bias", "as in batch_norm; its values are not read")
              .optional_input("MeanOut", "from batch_norm; read if it used the running statistics")
              .optional_input("VarianceOut", "from batch_norm; read if it used the running statistics")
              .optional_input(
                  "Mean", "PaddlePaddle passes MeanOut here again if batch_norm used the running statistics; not read")
              .optional_input("Variance", "PaddlePaddle passes VarianceOut here again in the same case; not read")
              .optional_input("ReserveSpace", "for other devices; not read")
              .infer(infer_batch_norm_grad)
              .in_place("Y@GRAD", "X@GRAD")
              .kernels<BatchNormGradKernel, float, double>());
}

}  // namespace paddle_mini

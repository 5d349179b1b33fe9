// batch_norm_grad_grad: the gradient of batch_norm_grad
#include <cmath>

#include "core/running_statistics.h"
#include "ops/batch_norm.h"
#include "ops/family/norm_second.h"

namespace paddle_mini {
namespace {

template <class Context>
bool second_uses_running(const Context& c) {
  return uses_running_statistics([&](const char* attr) { return c.template attr<bool>(attr); });
}

template <class T>
struct BatchNormSecondKernel : Kernel {
  In<T> x, scale, mean, deviation, running_mean, running_variance, second_x, second_scale, second_bias, y_gradient;
  Out<T> x_gradient, scale_gradient, y_second;
  BatchChannels layout;
  T epsilon;
  bool use_running;

  explicit BatchNormSecondKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), mean(init, "SavedMean"), deviation(init, "SavedVariance"),
        running_mean(init, "Mean", optional_port), running_variance(init, "Variance", optional_port),
        second_x(init, "DDX", optional_port), second_scale(init, "DDScale", optional_port),
        second_bias(init, "DDBias", optional_port), y_gradient(init, "DY"), x_gradient(init, "DX", optional_port),
        scale_gradient(init, "DScale", optional_port), y_second(init, "DDY", optional_port),
        layout(x.shape(), init.attr<std::string>("data_layout")), epsilon(static_cast<T>(init.attr<float>("epsilon"))),
        use_running(second_uses_running(init)) {}

  void run(KernelContext& context) override {
    each_item(context, {layout.channels, flops_cost(40.0 * static_cast<double>(layout.each()))}, [&](int64_t c) {
      T center = use_running ? running_mean[c] : mean[c];
      T s = use_running ? T(1) / std::sqrt(running_variance[c] + epsilon) : deviation[c];
      NormSecond<T> second{x.data(),
                           y_gradient.data(),
                           second_x ? second_x.data() : nullptr,
                           scale ? scale[c] : T(1),
                           second_scale ? second_scale[c] : T(0),
                           second_bias ? second_bias[c] : T(0),
                           center,
                           s,
                           use_running,
                           x_gradient ? x_gradient.data() : nullptr,
                           y_second ? y_second.data() : nullptr};
      T by_scale = second.run({c * layout.inner, layout.each(), layout.inner, layout.channels * layout.inner});
      if (scale_gradient) scale_gradient[c] = by_scale;
    });
  }
};

void infer_batch_norm_second(InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() >= 2 && x.rank() <= 5, "X has shape ", x.str(), ", it must have 2 to 5 dimensions");
  const Shape channels{x[batch_channel_axis(x, c.attr<std::string>("data_layout"))]};
  auto check = [&](const char* port, const Shape& wanted) {
    if (!c.has_input(port)) return;
    require_same_dtype(c, "X", port);
    require<ShapeError>(shapes_agree(c.shape(port), wanted), port, " has shape ", c.shape(port).str(), ", with X ",
                        x.str(), " it must be ", wanted.str());
  };
  for (const char* port : {"Scale", "SavedMean", "SavedVariance", "Mean", "Variance", "DDScale", "DDBias"}) {
    check(port, channels);
  }
  for (const char* port : {"DDX", "DY"}) check(port, x);
  require<ProgramError>(!second_uses_running(c) || (c.has_input("Mean") && c.has_input("Variance")),
                        "inputs Mean and Variance are missing: the operator uses the running statistics");
  for (const char* port : {"DX", "DDY"}) c.set_output(port, c.input("X"));
  c.set_output("DScale", c.input("X").dtype, channels);
}

}  // namespace

void define_batch_norm_grad_grad(OpTable& ops) {
  ops.add(OpSchema("batch_norm_grad_grad")
              .doc("The gradient of batch_norm_grad, for programs of PaddlePaddle.")
              .input("X", "as in batch_norm")
              .optional_input("Scale", "[channels]; absent: 1")
              .input("SavedMean", "[channels]")
              .input("SavedVariance", "[channels]: 1 / sqrt(variance + epsilon)")
              .optional_input("Mean", "[channels]: running statistics, where these are used")
              .optional_input("Variance", "[channels]: running statistics")
              .input("DY", "shape of X: the gradient of Y")
              .optional_input("DDX", "shape of X: the gradient of the gradient of X; absent: 0")
              .optional_input("DDScale", "[channels]: that of Scale; absent: 0")
              .optional_input("DDBias", "[channels]: that of Bias; absent: 0")
              .optional_output("DX", "shape of X: its gradient")
              .optional_output("DScale", "[channels]")
              .optional_output("DDY", "shape of X: the gradient of the gradient of Y")
              .attr("momentum", 0.9f, "not read")
              .attr("epsilon", 1e-5f, "added to a running variance", between(0, 1))
              .attr("is_test", false, "whether the running statistics are used")
              .attr("use_global_stats", false, "as is_test, also in training")
              .attr("trainable_statistics", false, "whether those of the batch are used even in testing")
              .attr("data_layout", "NCHW", "whether axis 1 or the last axis has the channels", one_of({"NCHW", "NHWC"}))
              .infer(infer_batch_norm_second)
              .no_gradient("third derivatives of normalizations are not computed")
              .cpu_only("only programs of PaddlePaddle have it; second gradients of others are formulas")
              .kernels<BatchNormSecondKernel, float, double>());
}

}  // namespace paddle_mini

// instance_norm_double_grad: the gradient of instance_norm_grad
#include "ops/family/norm_second.h"

namespace paddle_mini {
namespace {

template <class T>
struct InstanceNormSecondKernel : Kernel {
  In<T> x, scale, mean, deviation, second_x, second_scale, second_bias, y_gradient;
  Out<T> x_gradient, scale_gradient, y_second;
  int64_t images, channels, pixels;

  explicit InstanceNormSecondKernel(KernelInit& init)
      : x(init, "x"), scale(init, "fwd_scale", optional_port), mean(init, "saved_mean"),
        deviation(init, "saved_variance"), second_x(init, "grad_x@GRAD", optional_port),
        second_scale(init, "grad_scale@GRAD", optional_port), second_bias(init, "grad_bias@GRAD", optional_port),
        y_gradient(init, "grad_y"), x_gradient(init, "x@GRAD", optional_port),
        scale_gradient(init, "fwd_scale@GRAD", optional_port), y_second(init, "grad_y@GRAD", optional_port),
        images(x.shape()[0]), channels(x.shape()[1]), pixels(x.shape().numel(2, x.shape().rank())) {}

  void run(KernelContext& context) override {
    each_item(context, {channels, flops_cost(40.0 * static_cast<double>(images * pixels))}, [&](int64_t c) {
      T by_scale = 0;
      for (int64_t image = 0; image < images; ++image) by_scale += group(image, c);
      if (scale_gradient) scale_gradient[c] = by_scale;
    });
  }

  T group(int64_t image, int64_t c) const {
    int64_t at = image * channels + c;
    NormSecond<T> second{x.data(),
                         y_gradient.data(),
                         second_x ? second_x.data() : nullptr,
                         scale ? scale[c] : T(1),
                         second_scale ? second_scale[c] : T(0),
                         second_bias ? second_bias[c] : T(0),
                         mean[at],
                         deviation[at],
                         false,
                         x_gradient ? x_gradient.data() : nullptr,
                         y_second ? y_second.data() : nullptr};
    return second.run({at * pixels, pixels, std::max<int64_t>(pixels, 1), 0});
  }
};

void infer_instance_norm_second(InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("x");
  require<ShapeError>(x.rank() >= 2 && x.rank() <= 5, "x has shape ", x.str(), ", it must have 2 to 5 dimensions");
  auto check = [&](const char* port, const Shape& wanted) {
    if (!c.has_input(port)) return;
    require_same_dtype(c, "x", port);
    require<ShapeError>(same_shape(c.shape(port), wanted), port, " has shape ", c.shape(port).str(), ", with x ",
                        x.str(), " it must be ", wanted.str());
  };
  for (const char* port : {"fwd_scale", "grad_scale@GRAD", "grad_bias@GRAD"}) check(port, Shape{x[1]});
  for (const char* port : {"saved_mean", "saved_variance"}) check(port, Shape{x.numel(0, 2)});
  for (const char* port : {"grad_x@GRAD", "grad_y"}) check(port, x);
  for (const char* port : {"x@GRAD", "grad_y@GRAD"}) c.set_output(port, c.input("x"));
  c.set_output("fwd_scale@GRAD", c.input("x").dtype, Shape{x[1]});
}

}  // namespace

void define_instance_norm_double_grad(OpTable& ops) {
  ops.add(OpSchema("instance_norm_double_grad")
              .doc("The gradient of instance_norm_grad, for programs of PaddlePaddle.")
              .input("x", "the X of instance_norm")
              .optional_input("fwd_scale", "[channels]: its Scale; absent: 1")
              .input("saved_mean", "[images channels]")
              .input("saved_variance", "[images channels]: 1 / sqrt(variance + epsilon)")
              .input("grad_y", "shape of x: the gradient of Y")
              .optional_input("grad_x@GRAD", "shape of x: the gradient of the gradient of X; absent: 0")
              .optional_input("grad_scale@GRAD", "[channels]: that of Scale; absent: 0")
              .optional_input("grad_bias@GRAD", "[channels]: that of Bias; absent: 0")
              .optional_output("x@GRAD", "shape of x")
              .optional_output("fwd_scale@GRAD", "[channels]")
              .optional_output("grad_y@GRAD", "shape of x: the gradient of the gradient of Y")
              .attr("epsilon", 1e-5f, "as in instance_norm; not read")
              .infer(infer_instance_norm_second)
              .no_gradient("third derivatives of normalizations are not computed")
              .cpu_only("only programs of PaddlePaddle have it; second gradients of others are formulas")
              .kernels<InstanceNormSecondKernel, float, double>());
}

}  // namespace paddle_mini

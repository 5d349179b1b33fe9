// scale: Out = scale * X + bias
#include "core/op_table.h"
#include "core/widening.h"
#include "math/elementwise.h"
#include "math/scalar_arg.h"
#include "ops/family/narrow_kernels.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

template <class T>
struct Scaled {
  T scale, bias;
  template <class V>
  PM_HD V operator()(V v) const {
    return v * V(scale) + V(bias);
  }
};

template <class T>
struct Scaling {
  ScalarArg<T> scale;
  T bias;
  bool bias_after_scale;
  PM_HD Scaled<T> bind_scalars() const {
    T s = scale();
    return {s, bias_after_scale ? bias : static_cast<T>(s * bias)};
  }
};

template <class T>
struct ScaleKernel : Elementwise<ScaleKernel<T>> {
  In<T> x, scale_tensor;
  Out<T> out;
  Computed<T> scale, bias;
  bool bias_after_scale;

  explicit ScaleKernel(KernelInit& init)
      : x(init, "X"), scale_tensor(init, "ScaleTensor", optional_port), out(init, "Out"),
        scale(static_cast<Computed<T>>(init.attr<float>("scale"))),
        bias(static_cast<Computed<T>>(init.attr<float>("bias"))),
        bias_after_scale(init.attr<bool>("bias_after_scale")) {}

  void run(KernelContext& context) override {
    Elementwise<ScaleKernel>::run(context);
    if (x.is_rows()) out.variable().set_rows(x.variable().rows);
  }
  int64_t numel() const { return x.numel(); }
  ScalarArg<Computed<T>> factor() const {
    if constexpr (is_half<T>) return scale_tensor ? computed(scale_tensor[0]) : scale;
    else return scalar_or(scale_tensor, scale);
  }
  template <class Apply>
  void apply(Apply call) const {
    call(Scaling<Computed<T>>{factor(), bias, bias_after_scale}, out.data(), x.data());
  }
};

}  // namespace

void define_scale(OpTable& ops) {
  ops.add(also({DType::Bool},
               with_halves<ScaleKernel>(with_complex<ScaleKernel>(
                   OpSchema("scale")
                       .doc("Out = scale * X + bias, or scale * (X + bias) when bias_after_scale is false.")
                       .input("X", "any shape; a tensor or selected rows")
                       .optional_input("ScaleTensor", "one element; replaces `scale`")
                       .output("Out", "shape of X")
                       .attr("scale", 1.0f, "factor")
                       .attr("bias", 0.0f, "added after, or before, scaling")
                       .attr("bias_after_scale", true, "whether the bias is added after scaling")
                       .accepts_selected_rows("X")
                       .infer([](InferContext& c) {
                         if (c.has_input("ScaleTensor")) require_scalar(c, "ScaleTensor");
                         c.set_output("Out", c.input("X"));
                       })
                       .gradient([](const OpDesc& forward) {
                         OpDesc op = make_op("scale", {{"X", gradient_names(forward.output("Out"))}},
                                             {{"Out", gradient_names(forward.input("X"))}}, forward.attrs);
                         if (!forward.input("ScaleTensor").empty())
                           op.inputs.push_back({"ScaleTensor", forward.input("ScaleTensor")});
                         op.set_attr("bias", 0.0f);
                         return std::vector<OpDesc>{op};
                       })
                       .in_place("X", "Out")
                       .on_gpu()
                       .kernels<ScaleKernel, float, double, int32_t, int64_t>()))));
}

}  // namespace paddle_mini

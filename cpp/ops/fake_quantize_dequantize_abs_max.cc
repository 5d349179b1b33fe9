// fake_quantize_dequantize_abs_max and its kind: Out = X rounded as a quantized model would round it
#include "math/copy.h"
#include "ops/family/quantization.h"
#include "ops/family/reshape.h"

namespace paddle_mini {
namespace {

int32_t quant_axis_of(const OpDesc& op) { return op.attr("quant_axis") ? attr_of<int32_t>(op, "quant_axis") : -1; }

template <class T>
struct FakeQuantizeKernel : Kernel {
  In<T> x;
  Out<T> out, scale;
  AxisFolds folds;
  QuantizedRange range;

  explicit FakeQuantizeKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), scale(init, "OutScale"),
        folds(x.shape(), axes_of_scale(x.shape(), quant_axis_of(init.op()))), range(init) {}
  void run(KernelContext& context) override {
    const T* scales = scale.data();
    folds.fold(context, SizeOfNumber{}, LargerNumber{}, T(0), scale.data(), x.data());
    folds.map(context, QuantizeDequantize<T>{Quantize<T>(range)}, out.data(), x.data(), scales);
  }
};

template <class T>
struct FakeQuantizeMovingKernel : Kernel {
  In<T> x, in_scale;
  Out<T> out;
  MovingScale<T> moving;
  QuantizedRange range;
  bool is_test;

  explicit FakeQuantizeMovingKernel(KernelInit& init)
      : x(init, "X"), in_scale(init, "InScale"), out(init, "Out"),
        moving(init, x.shape(), init.attr<float>("moving_rate")), range(init), is_test(init.attr<bool>("is_test")) {}
  void run(KernelContext& context) override {
    if (is_test) moving.keep_state(context), keep(context, in_scale, moving.out_scale);
    const T* scale = is_test ? in_scale.data() : moving.update(context, x.data());
    moving.folds.map(context, QuantizeDequantize<T>{Quantize<T>(range)}, out.data(), x.data(), scale);
  }
};

template <class T>
struct ObservedScaleKernel : Kernel {
  In<T> x;
  Out<T> out;
  MovingScale<T> moving;
  bool is_test;

  explicit ObservedScaleKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out", optional_port), moving(init, x.shape(), init.attr<float>("moving_rate")),
        is_test(init.attr<bool>("is_test")) {}
  void run(KernelContext& context) override {
    if (is_test) keep_scale(context);
    else moving.update(context, x.data());
    if (out) copy_n(context, x.data(), x.numel(), out.data());
  }

  void keep_scale(KernelContext& context) const {
    moving.keep_state(context);
    if (!moving.out_scale || !moving.accum_in || !moving.state_in) return;
    CurrentScale<T> current{moving.accum_in.data(), moving.state_in.data(), moving.out_scale.data()};
    for_each_index(context, 1, current);
  }
};

struct StraightThroughKernel : MoveKernel {
  explicit StraightThroughKernel(KernelInit& init) : MoveKernel(init.input("Out@GRAD"), init.output("X@GRAD")) {}
};

void infer_fake_quantize(InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  int32_t axis = quant_axis_of(c.op());
  require<ShapeError>(axis < x.rank(), "attribute 'quant_axis' is ", axis, ", X has ", x.rank(), " dimensions");
  c.set_output("Out", c.input("X"));
  c.set_output("OutScale", c.input("X").dtype, axis < 0 ? Shape{1} : Shape{x[axis]});
}

OpSchema fake_quantization(const char* type) {
  return OpSchema(type).input("X", "any shape").output("Out", "shape of X").gradient(straight_through).on_gpu();
}

}  // namespace

void define_fake_quantize_dequantize_abs_max(OpTable& ops) {
  constexpr const char* kRounded =
      "Out = the integer nearest to X / s, times s, with s = scale / (2^(bit_length - 1) - 1)";
  ops.add(with_bits(fake_quantization("fake_quantize_dequantize_abs_max"), 1)
              .doc(text(kRounded, " and the scale max |X|."))
              .output("OutScale", "[1]: the scale")
              .infer(infer_fake_quantize)
              .kernels<FakeQuantizeKernel, float, double>());
  ops.add(with_bits(fake_quantization("fake_channel_wise_quantize_dequantize_abs_max"), 1)
              .doc(text(kRounded, " and the scale max |X| of each channel."))
              .output("OutScale", "[channels]: the scales")
              .attr("quant_axis", 0, "the axis of the channels", between(0, 1))
              .infer(infer_fake_quantize)
              .kernels<FakeQuantizeKernel, float, double>());
  ops.add(with_moving_scale(with_bits(fake_quantization("fake_quantize_dequantize_moving_average_abs_max"), 1))
              .doc(text(kRounded, "; the scale is OutScale, or InScale with is_test."))
              .input("InScale", "[1]: the scale before the step")
              .attr("moving_rate", 0.9f, "the weight of earlier steps")
              .updates("InScale", "OutScale")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_scalar(c, "InScale");
                require_same_dtype(c, "X", "InScale");
                c.set_output("Out", c.input("X"));
                infer_moving_scale(c);
              })
              .kernels<FakeQuantizeMovingKernel, float, double>());
  ops.add(
      with_moving_scale(OpSchema("moving_average_abs_max_scale"))
          .doc(text("Out = X, while OutScale becomes the average of max |X|, by which a quantized model divides. With "
                    "is_test it is InAccum / InState; without these it keeps its value."))
          .input("X", "any shape")
          .optional_output("Out", "shape of X")
          .attr("moving_rate", 0.9f, "the weight of earlier steps")
          .infer([](InferContext& c) {
            require_tensors(c);
            c.set_output("Out", c.input("X"));
            infer_moving_scale(c);
          })
          .gradient(straight_through)
          .on_gpu()
          .kernels<ObservedScaleKernel, float, double>());
  ops.add(OpSchema("stright_throuth_estimator_grad")
              .doc("X@GRAD = Out@GRAD: the gradient of operators that round, as if they did not.")
              .input("Out@GRAD", "the gradient of Out")
              .output("X@GRAD", "shape of Out@GRAD")
              .infer([](InferContext& c) { c.set_output("X@GRAD", c.input("Out@GRAD")); })
              .view("Out@GRAD", "X@GRAD")
              .on_gpu()
              .kernel_for_any<StraightThroughKernel>());
}

}  // namespace paddle_mini

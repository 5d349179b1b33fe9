// quantize_linear: Y = the integers of X in a quantized model; dequantize_linear: Y = the numbers of these integers
#include "math/cast.h"
#include "math/copy.h"
#include "ops/family/quantization.h"

namespace paddle_mini {
namespace {

constexpr float kMovingRate = 0.9f;  // PaddlePaddle's

template <class T>
struct QuantizeLinearKernel : Kernel {
  In<T> x, scale;
  Out<T> y, out_scale;
  MovingScale<T> moving;
  AxisFolds folds;
  QuantizedRange range;
  bool is_test, per_channel, only_observer;
  Scratch<T> scales;

  explicit QuantizeLinearKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale"), y(init, "Y"), out_scale(init, "OutScale", optional_port),
        moving(init, x.shape(), kMovingRate),
        folds(x.shape(), axes_of_scale(x.shape(), init.attr<int32_t>("quant_axis"))), range(init),
        is_test(init.attr<bool>("is_test")), per_channel(init.attr<int32_t>("quant_axis") >= 0),
        only_observer(init.attr<bool>("only_observer")), scales(init, is_test || !per_channel ? 0 : scale.numel()) {}

  const T* scale_of_run(KernelContext& context) const {
    if (!is_test && !per_channel) return moving.update(context, x.data());
    moving.keep_state(context);
    if (is_test) {
      keep(context, scale, out_scale);
      return scale.data();
    }
    folds.fold(context, SizeOfNumber{}, LargerNumber{}, T(0), scales.data(), x.data());
    if (out_scale) copy_n(context, static_cast<const T*>(scales.data()), scales.numel(), out_scale.data());
    return scales.data();
  }

  void run(KernelContext& context) override {
    const T* divisor = scale_of_run(context);
    if (only_observer) copy_n(context, x.data(), x.numel(), y.data());
    else folds.map(context, Quantize<T>(range), y.data(), x.data(), divisor);
  }
};

template <class T>
struct DequantizeLinearKernel : Kernel {
  const Variable& x;
  In<T> scale, accum_in, state_in;
  Out<T> y, out_scale, accum, state;
  AxisFolds folds;
  QuantizedRange range;
  bool only_observer;
  CastFunction convert;

  explicit DequantizeLinearKernel(KernelInit& init)
      : x(*init.input("X")), scale(init, "Scale"), accum_in(init, "InAccum", optional_port),
        state_in(init, "InState", optional_port), y(init, "Y"), out_scale(init, "OutScale", optional_port),
        accum(init, "OutAccum", optional_port), state(init, "OutState", optional_port),
        folds(y.shape(), axes_of_scale(y.shape(), init.attr<int32_t>("quant_axis"))), range(init),
        only_observer(init.attr<bool>("only_observer")), convert(cast_function(x.tensor.dtype, dtype_of<T>::value)) {}

  void run(KernelContext& context) override {
    keep(context, scale, out_scale);
    keep(context, accum_in, accum);
    keep(context, state_in, state);
    convert(context, y.numel(), x.tensor.data, y.data());
    if (only_observer) return;
    const T* from = y.data();
    folds.map(context, Dequantize<T>{static_cast<T>(range.bins)}, y.data(), from, scale.data());
  }
};

void check_scale(InferContext& c) {
  require_tensors(c);
  const Shape &x = c.shape("X"), &scale = c.shape("Scale");
  int32_t axis = c.attr<int32_t>("quant_axis");
  require<ShapeError>(axis < x.rank(), "attribute 'quant_axis' is ", axis, ", X has ", x.rank(), " dimensions");
  Shape wanted = axis < 0 ? Shape{1} : Shape{x[axis]};
  require<ShapeError>(same_shape(scale, wanted), "Scale has shape ", scale.str(), ", it must have ", wanted.str());
}

OpSchema linear_quantization(const char* type) {
  return with_bits(with_moving_scale(OpSchema(type)), 0)
      .input("X", "any shape")
      .input("Scale", "[1], or [channels] along quant_axis: the scale")
      .input("ZeroPoint", "not read: the integer of 0 is 0")
      .output("Y", "shape of X")
      .attr("quant_axis", 0, "the axis of the channels, each with a scale; -1: there is one scale", between(-1, 7))
      .attr("only_observer", false, "whether Y = X")
      .no_gradient("PaddlePaddle has none either")
      .on_gpu();
}

}  // namespace

void define_quantize_linear(OpTable& ops) {
  ops.add(
      linear_quantization("quantize_linear")
          .doc("Y = the integer nearest to X (2^(bit_length - 1) - 1) / scale, as a number of X's type. The scale is "
               "Scale with is_test. Else it is OutScale: of a channel max |X|, of all channels together its average "
               "with a moving rate of 0.9.")
          .updates("Scale", "OutScale")
          .infer([](InferContext& c) {
            check_scale(c);
            require_same_dtype(c, "X", "Scale");
            c.set_output("Y", c.input("X"));
            bool averages = !c.attr<bool>("is_test") && c.attr<int32_t>("quant_axis") < 0;
            if (averages) require_state(c);
            infer_state(c, "X");
            c.set_output("OutScale", c.input("Scale"));
          })
          .kernels<QuantizeLinearKernel, float, double>());
  ops.add(linear_quantization("dequantize_linear")
              .doc("Y = X Scale / (2^(bit_length - 1) - 1), with the type of Scale. The other outputs are the inputs.")
              .infer([](InferContext& c) {
                check_scale(c);
                c.set_output("Y", c.input("Scale").dtype, c.shape("X"));
                infer_state(c, "Scale");
                c.set_output("OutScale", c.input("Scale"));
              })
              .dtype_from_input("Scale")
              .kernels<DequantizeLinearKernel, float, double>());
}

}  // namespace paddle_mini

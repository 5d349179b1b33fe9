// affine_channel: Out = Scale X + Bias, with a Scale and a Bias for each channel
#include "core/op_table.h"
#include "math/channel_rows.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class Context>
bool affine_channel_channels_last(const Context& c) {
  return c.template attr<std::string>("data_layout") != "NCHW";
}

template <class T>
struct AffineChannelKernel : Kernel {
  In<T> x, scale, bias;
  Out<T> out;
  ChannelRows rows;

  explicit AffineChannelKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale"), bias(init, "Bias"), out(init, "Out"),
        rows(x.shape(), affine_channel_channels_last(init)) {}

  void run(KernelContext& context) override;
};

template <class T>
struct AffineChannelGradKernel : Kernel {
  In<T> x, scale, out_gradient;
  Out<T> x_gradient, scale_gradient, bias_gradient;
  ChannelRows rows;

  explicit AffineChannelGradKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        scale_gradient(init, "Scale@GRAD", optional_port), bias_gradient(init, "Bias@GRAD", optional_port),
        rows(x.shape(), affine_channel_channels_last(init)) {}

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  void add_row(KernelContext& context, int64_t n, const T* g, const T* from);
  void add_channel(KernelContext& context, int64_t n, const T* g, const T* from, int64_t c);
};

void require_parameters(const InferContext& c, std::initializer_list<const char*> ports) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() >= 2, "X has shape ", x.str(), ", it must have axes of images and of channels");
  int64_t channels = x[affine_channel_channels_last(c) ? x.rank() - 1 : 1];
  for (const char* port : ports) {
    require_same_dtype(c, "X", port);
    require<ShapeError>(shapes_agree(c.shape(port), Shape{channels}), port, " has shape ", c.shape(port).str(), ", X ",
                        x.str(), " has ", channels, " channels");
  }
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(affine_channel)

namespace paddle_mini {

void define_affine_channel(OpTable& ops) {
  ops.add(OpSchema("affine_channel")
              .doc("Out = Scale X + Bias, channel by channel.")
              .attr("data_layout", "AnyLayout",
                    "NCHW: axis 1 has the channels; otherwise the last axis has them, as in PaddlePaddle",
                    one_of({"AnyLayout", "NCHW", "NHWC"}))
              .input("X", "[images, channels, ...], or channels last according to data_layout")
              .input("Scale", "[channels]")
              .input("Bias", "[channels]")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                require_parameters(c, {"Scale", "Bias"});
                c.set_output("Out", c.input("X"));
              })
              .gradient("affine_channel_grad", {"X", "Scale", "Out@GRAD"}, {"X@GRAD", "Scale@GRAD", "Bias@GRAD"})
              .in_place("X", "Out")
              .on_gpu()
              .kernels<AffineChannelKernel, float, double>());
  ops.add(ops.gradient_of("affine_channel")
              .doc("X@GRAD = Scale Out@GRAD; Scale@GRAD = sum of Out@GRAD X, Bias@GRAD = sum of Out@GRAD, over each "
                   "channel.")
              .infer([](InferContext& c) {
                require_parameters(c, {"Scale"});
                require_same_dtype(c, "X", "Out@GRAD");
                require_same_shape(c, "X", "Out@GRAD");
                c.set_output("X@GRAD", c.input("X"));
                for (const char* port : {"Scale@GRAD", "Bias@GRAD"}) c.set_output(port, c.input("Scale"));
              })
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<AffineChannelGradKernel, float, double>());
}

}  // namespace paddle_mini

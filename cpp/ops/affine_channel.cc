// affine_channel: Out = Scale X + Bias, with a Scale and a Bias for each channel
#include "core/op_table.h"
#include "math/channel_rows.h"
#include "math/map.h"

#ifdef PM_GPU
#include "math/affine_channel_gpu.h"
#endif

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

#ifdef PM_GPU
  void run(Device& device) override {
    affine_channel_gpu::Forward<T> body{
        rows.channels, affine_channel_gpu::inner_of(rows), x.data(), scale.data(), bias.data(), out.data()};
    for_each_index(device, x.numel(), body);
  }
#else
  void run(Device& device) override {
    for (int64_t i = 0; i < rows.images; ++i)
      rows.each(i, 0, rows.channels, [&](int64_t at, int64_t n, int64_t c) {
        if (rows.last) {
          auto each = [](auto v, auto k, auto b) { return v * k + b; };
          map(device, n, each, out.data() + at, x.data() + at, scale.data(), bias.data());
        } else {
          auto all = [k = scale[c], b = bias[c]](auto v) { return v * decltype(v)(k) + decltype(v)(b); };
          map(device, n, all, out.data() + at, x.data() + at);
        }
      });
  }
#endif
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

#ifdef PM_GPU
  // X@GRAD last: it may lie in the memory of Out@GRAD.
  void run(Device& device) override {
    const T* g = out_gradient.data();
    affine_channel_gpu::to_parameters(device, rows, x.data(), g, scale_gradient ? scale_gradient.data() : nullptr,
                                      bias_gradient ? bias_gradient.data() : nullptr);
    if (!x_gradient) return;
    affine_channel_gpu::ToX<T> body{rows.channels, affine_channel_gpu::inner_of(rows), g, scale.data(),
                                    x_gradient.data()};
    for_each_index(device, x.numel(), body);
  }
#else
  // X@GRAD last: it may lie in the memory of Out@GRAD.
  void run(Device& device) override {
    if (scale_gradient) std::fill_n(scale_gradient.data(), rows.channels, T(0));
    if (bias_gradient) std::fill_n(bias_gradient.data(), rows.channels, T(0));
    for (int64_t i = 0; i < rows.images; ++i)
      rows.each(i, 0, rows.channels, [&](int64_t at, int64_t n, int64_t c) {
        const T *g = out_gradient.data() + at, *from = x.data() + at;
        if (rows.last) add_row(device, n, g, from);
        else add_channel(device, n, g, from, c);
        if (!x_gradient) return;
        T* to = x_gradient.data() + at;
        if (rows.last) map(device, n, [](auto w, auto k) { return w * k; }, to, g, scale.data());
        else map(device, n, [k = scale[c]](auto w) { return w * decltype(w)(k); }, to, g);
      });
  }

  void add_row(Device& device, int64_t n, const T* g, const T* from) {
    T* scales = scale_gradient ? scale_gradient.data() : nullptr;
    T* biases = bias_gradient ? bias_gradient.data() : nullptr;
    const T *scale_sums = scales, *bias_sums = biases;
    auto add_product = [](auto sum, auto w, auto v) { return sum + w * v; };
    if (scales) map(device, n, add_product, scales, scale_sums, g, from);
    if (biases) map(device, n, [](auto sum, auto w) { return sum + w; }, biases, bias_sums, g);
  }

  void add_channel(Device& device, int64_t n, const T* g, const T* from, int64_t c) {
    auto product = [](auto w, auto v) { return w * v; };
    if (scale_gradient) scale_gradient[c] += static_cast<T>(map_sum(device, n, product, g, from));
    if (bias_gradient) bias_gradient[c] += static_cast<T>(map_sum(device, n, [](auto w) { return w; }, g));
  }
#endif
};

void require_parameters(const InferContext& c, std::initializer_list<const char*> ports) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() >= 2, "X has shape ", x.str(), ", images and channels are needed");
  int64_t channels = x[affine_channel_channels_last(c) ? x.rank() - 1 : 1];
  for (const char* port : ports) {
    require_same_dtype(c, "X", port);
    require<ShapeError>(shapes_agree(c.shape(port), Shape{channels}), port, " has shape ", c.shape(port).str(), ", X ",
                        x.str(), " has ", channels, " channels");
  }
}

}  // namespace

void define_affine_channel(OpTable& ops) {
  ops.add(OpSpec("affine_channel")
              .doc("Out = Scale X + Bias, channel by channel.")
              .attr("data_layout", "AnyLayout",
                    "NCHW: channels are axis 1; else they are the last axis, as in PaddlePaddle",
                    one_of({"AnyLayout", "NCHW", "NHWC"}))
              .input("X", "[images, channels, ...], or channels last as data_layout says")
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

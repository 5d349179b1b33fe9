// pixel_unshuffle: pixels become channels: [N, C, H r, W r] to [N, C r r, H, W]
#include "core/op_table.h"
#include "math/transpose.h"

namespace paddle_mini {
namespace {

bool pixel_unshuffle_channels_last(const std::string& format) { return format == "NHWC"; }

// Rows and columns are viewed as [H, r] and [W, r]; in the result both r follow the channels.
template <bool backward>
struct PixelUnshuffleKernel : Kernel {
  const Variable& in;
  Variable& out;
  Transpose transpose;

  explicit PixelUnshuffleKernel(KernelInit& init)
      : in(*init.input(backward ? "Out@GRAD" : "X")), out(*init.output(backward ? "X@GRAD" : "Out")),
        transpose(make(backward ? out.tensor : in.tensor, init.attr<int32_t>("downscale_factor"),
                       pixel_unshuffle_channels_last(init.attr<std::string>("data_format")))) {}
  void run(KernelContext& context) override { transpose.run(context, in.tensor.data, out.tensor.data); }

  static Transpose make(const Tensor& x, int64_t r, bool last) {
    const Shape& s = x.shape;
    std::vector<int> order{0, 1, 3, 5, 2, 4};
    Shape split = last ? Shape{s[0], s[1] / r, r, s[2] / r, r, s[3]} : Shape{s[0], s[1], s[2] / r, r, s[3] / r, r};
    if (backward) return Transpose(transposed(split, order), inverse_order(order), size_of(x.dtype));
    return Transpose(split, order, size_of(x.dtype));
  }
};

struct Axes {
  int channels, rows;
};

Axes pixel_unshuffle_axes_of(const InferContext& c, const char* port) {
  require_tensors(c);
  require_rank(c, port, 4);
  return pixel_unshuffle_channels_last(c.attr<std::string>("data_format")) ? Axes{3, 1} : Axes{1, 2};
}

int64_t divided(const char* port, const Shape& s, int axis, int64_t by) {
  require<ShapeError>(s[axis] < 0 || s[axis] % by == 0, port, " has shape ", s.str(), ": axis ", axis,
                      " can't be divided by ", by);
  return s[axis] < 0 ? -1 : s[axis] / by;
}

int64_t multiplied(int64_t size, int64_t by) { return size < 0 ? -1 : size * by; }

Shape unshuffled(const InferContext& c) {
  Axes axes = pixel_unshuffle_axes_of(c, "X");
  const Shape& x = c.shape("X");
  int64_t r = c.attr<int32_t>("downscale_factor");
  Shape out = x;
  for (int axis : {axes.rows, axes.rows + 1}) out[axis] = divided("X", x, axis, r);
  out[axes.channels] = multiplied(x[axes.channels], r * r);
  return out;
}

Shape shuffled_back(const InferContext& c) {
  Axes axes = pixel_unshuffle_axes_of(c, "Out@GRAD");
  const Shape& out = c.shape("Out@GRAD");
  int64_t r = c.attr<int32_t>("downscale_factor");
  Shape x = out;
  for (int axis : {axes.rows, axes.rows + 1}) x[axis] = multiplied(out[axis], r);
  x[axes.channels] = divided("Out@GRAD", out, axes.channels, r * r);
  return x;
}

}  // namespace

void define_pixel_unshuffle(OpTable& ops) {
  ops.add(OpSchema("pixel_unshuffle")
              .doc("Out[n, (c r + i) r + j, y, x] = X[n, c, y r + i, x r + j] with r = downscale_factor.")
              .attr("downscale_factor", 1, "factor by which height and width shrink", between(1, 1 << 15))
              .attr("data_format", "NCHW", "whether axis 1 or the last axis has the channels", one_of({"NCHW", "NHWC"}))
              .input("X", "[images, channels, height r, width r], or channels last according to data_format")
              .output("Out", "[images, channels r r, height, width], or channels last")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, unshuffled(c)); })
              .gradient("pixel_unshuffle_grad", {"Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<PixelUnshuffleKernel<false>>());
  ops.add(ops.gradient_of("pixel_unshuffle")
              .doc("X@GRAD = Out@GRAD, shuffled back.")
              .infer([](InferContext& c) { c.set_output("X@GRAD", c.input("Out@GRAD").dtype, shuffled_back(c)); })
              .kernel_for_any<PixelUnshuffleKernel<true>>());
}

}  // namespace paddle_mini

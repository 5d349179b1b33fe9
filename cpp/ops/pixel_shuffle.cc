// pixel_shuffle: channels become pixels: [N, C r r, H, W] to [N, C, H r, W r]
#include "core/op_table.h"
#include "math/transpose.h"

namespace paddle_mini {
namespace {

bool pixel_shuffle_channels_last(const std::string& format) { return format == "NHWC"; }

// The channels are viewed as [C, r, r]; in the result, one r follows the rows and the other follows the columns.
template <bool backward>
struct PixelShuffleKernel : Kernel {
  const Variable& in;
  Variable& out;
  Transpose transpose;

  explicit PixelShuffleKernel(KernelInit& init)
      : in(*init.input(backward ? "Out@GRAD" : "X")), out(*init.output(backward ? "X@GRAD" : "Out")),
        transpose(make(backward ? out.tensor : in.tensor, init.attr<int32_t>("upscale_factor"),
                       pixel_shuffle_channels_last(init.attr<std::string>("data_format")))) {}
  void run(KernelContext& context) override { transpose.run(context, in.tensor.data, out.tensor.data); }

  static Transpose make(const Tensor& x, int64_t r, bool last) {
    const Shape& s = x.shape;
    std::vector<int> order{0, 1, 4, 2, 5, 3};
    Shape split = last ? Shape{s[0], s[1], s[2], s[3] / (r * r), r, r} : Shape{s[0], s[1] / (r * r), r, r, s[2], s[3]};
    if (backward) return Transpose(transposed(split, order), inverse_order(order), size_of(x.dtype));
    return Transpose(split, order, size_of(x.dtype));
  }
};

// The shape after the shuffle or, backward, before it.
Shape shuffled(const InferContext& c, const char* port, bool backward) {
  require_tensors(c);
  require_rank(c, port, 4);
  Shape s = c.shape(port);
  int64_t r = c.attr<int32_t>("upscale_factor");
  bool last = pixel_shuffle_channels_last(c.attr<std::string>("data_format"));
  int channels = last ? 3 : 1, rows = last ? 1 : 2;
  auto divide = [&](int axis, int64_t by) {
    require<ShapeError>(s[axis] < 0 || s[axis] % by == 0, port, " has shape ", s.str(), ": axis ", axis,
                        " can't be divided by ", by);
    if (s[axis] > 0) s[axis] /= by;
  };
  auto multiply = [&](int axis, int64_t by) {
    if (s[axis] > 0) s[axis] *= by;
  };
  if (backward) divide(rows, r), divide(rows + 1, r), multiply(channels, r * r);
  else divide(channels, r * r), multiply(rows, r), multiply(rows + 1, r);
  return s;
}

}  // namespace

void define_pixel_shuffle(OpTable& ops) {
  ops.add(
      OpSchema("pixel_shuffle")
          .doc("Out[n, c, y r + i, x r + j] = X[n, (c r + i) r + j, y, x] with r = upscale_factor (Shi et al. 2016).")
          .input("X", "[images, channels r r, height, width], or channels last according to data_format")
          .output("Out", "[images, channels, height r, width r], or channels last")
          .attr("upscale_factor", 1, "factor by which height and width grow", between(1, 1 << 15))
          .attr("data_format", "NCHW", "whether axis 1 or the last axis has the channels", one_of({"NCHW", "NHWC"}))
          .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, shuffled(c, "X", false)); })
          .gradient("pixel_shuffle_grad", {"Out@GRAD"}, {"X@GRAD"})
          .on_gpu()
          .kernel_for_any<PixelShuffleKernel<false>>());
  ops.add(ops.gradient_of("pixel_shuffle")
              .doc("X@GRAD = Out@GRAD, shuffled back.")
              .infer([](InferContext& c) {
                c.set_output("X@GRAD", c.input("Out@GRAD").dtype, shuffled(c, "Out@GRAD", true));
              })
              .kernel_for_any<PixelShuffleKernel<true>>());
}

}  // namespace paddle_mini

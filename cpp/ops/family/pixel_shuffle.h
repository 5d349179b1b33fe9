// pixel_shuffle, which turns channels into pixels, and pixel_unshuffle, its inverse: kernels, shapes, and a common start of
// their schemas.
#pragma once

#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/transpose.h"

namespace paddle_mini {

// to_pixels: from [N, C r r, H, W] to [N, C, H r, W r], or else back. The gradient of one is the other.
template <bool to_pixels, bool gradient>
struct PixelShuffle {
  static constexpr const char* kFrom = gradient ? "Out@GRAD" : "X";
  static constexpr const char* kTo = gradient ? "X@GRAD" : "Out";
  static constexpr const char* kFactor = to_pixels != gradient ? "upscale_factor" : "downscale_factor";

  struct Kernel : paddle_mini::Kernel {
    const Variable& from;
    Variable& to;
    Transpose transpose;

    explicit Kernel(KernelInit& init)
        : from(*init.input(kFrom)), to(*init.output(kTo)),
          transpose(make(to_pixels ? from.tensor : to.tensor, init.attr<int32_t>(kFactor),
                         init.attr<std::string>("data_format") == "NHWC")) {}
    void run(KernelContext& context) override { transpose.run(context, from.tensor.data, to.tensor.data); }

    // The channels of x are viewed as [C, r, r]; one r follows the rows and the other follows the columns.
    static Transpose make(const Tensor& x, int64_t r, bool last) {
      const Shape& s = x.shape;
      std::vector<int> order{0, 1, 4, 2, 5, 3};
      Shape split =
          last ? Shape{s[0], s[1], s[2], s[3] / (r * r), r, r} : Shape{s[0], s[1] / (r * r), r, r, s[2], s[3]};
      if (to_pixels) return Transpose(split, order, size_of(x.dtype));
      return Transpose(transposed(split, order), inverse_order(order), size_of(x.dtype));
    }
  };

  static void infer(InferContext& c) {
    require_tensors(c);
    require_rank(c, kFrom, 4);
    Shape s = c.shape(kFrom);
    int64_t r = c.attr<int32_t>(kFactor);
    bool last = c.attr<std::string>("data_format") == "NHWC";
    int channels = last ? 3 : 1, rows = last ? 1 : 2;
    auto divide = [&](int axis, int64_t by) {
      require<ShapeError>(s[axis] < 0 || s[axis] % by == 0, kFrom, " has shape ", s.str(), ": axis ", axis,
                          " can't be divided by ", by);
      if (s[axis] > 0) s[axis] /= by;
    };
    auto multiply = [&](int axis, int64_t by) {
      if (s[axis] > 0) s[axis] *= by;
    };
    if (to_pixels) divide(channels, r * r), multiply(rows, r), multiply(rows + 1, r);
    else divide(rows, r), divide(rows + 1, r), multiply(channels, r * r);
    c.set_output(kTo, c.input(kFrom).dtype, s);
  }
};

// Adds the operator, whose schema has ports, doc and its factor, and its gradient.
template <bool to_pixels>
void add_pixel_shuffle(OpTable& ops, OpSchema forward) {
  std::string type = forward.type();
  ops.add(forward
              .attr("data_format", "NCHW", "whether axis 1 or the last axis has the channels", one_of({"NCHW", "NHWC"}))
              .infer(PixelShuffle<to_pixels, false>::infer)
              .gradient(type + "_grad", {"Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .template kernel_for_any<typename PixelShuffle<to_pixels, false>::Kernel>());
  ops.add(linear_gradient_of(ops, type)
              .doc("X@GRAD = Out@GRAD, shuffled back.")
              .infer(PixelShuffle<!to_pixels, true>::infer)
              .template kernel_for_any<typename PixelShuffle<!to_pixels, true>::Kernel>());
}

}  // namespace paddle_mini

// channel_shuffle: interleaves the channels of all groups
#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/transpose.h"

namespace paddle_mini {
namespace {

bool channel_shuffle_channels_last(const std::string& format) { return format == "NHWC"; }

// Views the channels as [groups, channels per group] and exchanges these two axes.
template <bool backward>
struct ChannelShuffleKernel : Kernel {
  const Variable& in;
  Variable& out;
  Transpose transpose;

  explicit ChannelShuffleKernel(KernelInit& init)
      : in(*init.input(backward ? "Out@GRAD" : "X")), out(*init.output(backward ? "X@GRAD" : "Out")),
        transpose(make(in.tensor, init.attr<int32_t>("groups"),
                       channel_shuffle_channels_last(init.attr<std::string>("data_format")))) {}
  void run(KernelContext& context) override { transpose.run(context, in.tensor.data, out.tensor.data); }

  static Transpose make(const Tensor& x, int64_t groups, bool last) {
    const Shape& s = x.shape;
    int64_t channels = s[last ? 3 : 1], outer = last ? s.numel(0, 3) : s[0], inner = last ? 1 : s.numel(2, 4);
    int64_t each = channels / groups;
    Shape split = backward ? Shape{outer, each, groups, inner} : Shape{outer, groups, each, inner};
    return Transpose(split, {0, 2, 1, 3}, size_of(x.dtype));
  }
};

void check_groups(const InferContext& c, const char* port) {
  require_tensors(c);
  require_rank(c, port, 4);
  const Shape& x = c.shape(port);
  bool last = channel_shuffle_channels_last(c.attr<std::string>("data_format"));
  int64_t groups = c.attr<int32_t>("groups"), channels = x[last ? 3 : 1];
  require<ShapeError>(channels < 0 || channels % groups == 0, port, " has shape ", x.str(), ": ", channels,
                      " channels, which can't be divided into ", groups, " groups");
}

}  // namespace

void define_channel_shuffle(OpTable& ops) {
  ops.add(OpSchema("channel_shuffle")
              .doc("Channel i of group g becomes channel i groups + g (Zhang et al. 2018).")
              .attr("groups", 1, "the number of groups of channels", at_least(1))
              .attr("data_format", "NCHW", "whether axis 1 or the last axis has the channels", one_of({"NCHW", "NHWC"}))
              .input("X", "[images, channels, height, width], or channels last according to data_format")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                check_groups(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient("channel_shuffle_grad", {"Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<ChannelShuffleKernel<false>>());
  ops.add(linear_gradient_of(ops, "channel_shuffle")
              .doc("X@GRAD = Out@GRAD, shuffled back.")
              .infer([](InferContext& c) {
                check_groups(c, "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
              })
              .kernel_for_any<ChannelShuffleKernel<true>>());
}

}  // namespace paddle_mini

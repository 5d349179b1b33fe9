// channel_shuffle, shuffle_channel: interleave the channels of all groups
#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/transpose.h"

namespace paddle_mini {
namespace {

bool channel_shuffle_channels_last(const std::string& format) { return format == "NHWC"; }

// Views the channels as [groups, channels per group] and exchanges these two axes.
template <bool backward, bool older>
struct ChannelShuffleKernel : Kernel {
  const Variable& in;
  Variable& out;
  Transpose transpose;

  explicit ChannelShuffleKernel(KernelInit& init)
      : in(*init.input(backward ? "Out@GRAD" : "X")), out(*init.output(backward ? "X@GRAD" : "Out")),
        transpose(make(in.tensor, init.attr<int32_t>(older ? "group" : "groups"),
                       !older && channel_shuffle_channels_last(init.attr<std::string>("data_format")))) {}
  void run(KernelContext& context) override { transpose.run(context, in.tensor.data, out.tensor.data); }

  static Transpose make(const Tensor& x, int64_t groups, bool last) {
    const Shape& s = x.shape;
    int64_t channels = s[last ? 3 : 1], outer = last ? s.numel(0, 3) : s[0], inner = last ? 1 : s.numel(2, 4);
    int64_t each = channels / groups;
    Shape split = backward ? Shape{outer, each, groups, inner} : Shape{outer, groups, each, inner};
    return Transpose(split, {0, 2, 1, 3}, size_of(x.dtype));
  }
};

template <bool older>
void check_groups(const InferContext& c, const char* port) {
  require_tensors(c);
  require_rank(c, port, 4);
  const Shape& x = c.shape(port);
  bool last = !older && channel_shuffle_channels_last(c.attr<std::string>("data_format"));
  int64_t groups = c.attr<int32_t>(older ? "group" : "groups"), channels = x[last ? 3 : 1];
  require<ShapeError>(channels < 0 || channels % groups == 0, port, " has shape ", x.str(), ": ", channels,
                      " channels, which can't be divided into ", groups, " groups");
}

// The operator with the attributes of `schema`. older: as PaddlePaddle 1 calls it.
template <bool older>
void define_shuffle(OpTable& ops, OpSchema schema) {
  std::string type = schema.type();
  ops.add(schema.output("Out", "shape of X")
              .infer([](InferContext& c) {
                check_groups<older>(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient(type + "_grad", {"Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .template kernel_for_any<ChannelShuffleKernel<false, older>>());
  ops.add(linear_gradient_of(ops, type)
              .doc("X@GRAD = Out@GRAD, shuffled back.")
              .infer([](InferContext& c) {
                check_groups<older>(c, "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
              })
              .template kernel_for_any<ChannelShuffleKernel<true, older>>());
}

constexpr const char* kShuffled = "Channel i of group g becomes channel i groups + g (Zhang et al. 2018).";

}  // namespace

void define_channel_shuffle(OpTable& ops) {
  define_shuffle<false>(
      ops,
      OpSchema("channel_shuffle")
          .doc(kShuffled)
          .attr("groups", 1, "the number of groups of channels", at_least(1))
          .attr("data_format", "NCHW", "whether axis 1 or the last axis has the channels", one_of({"NCHW", "NHWC"}))
          .input("X", "[images, channels, height, width], or channels last according to data_format"));
  define_shuffle<true>(ops, OpSchema("shuffle_channel")
                                .doc(kShuffled)
                                .attr("group", 1, "the number of groups of channels", at_least(1))
                                .input("X", "[images, channels, height, width]"));
}

}  // namespace paddle_mini

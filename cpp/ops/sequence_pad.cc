// sequence_pad: Out[i] = sequence i of X, padded with PadValue to a common length
#include "ops/family/sequence_padding.h"

namespace paddle_mini {
namespace {

struct SequencePadKernel : Kernel {
  PadKernel pad;
  Out<int64_t> length;
  Offsets offsets;

  explicit SequencePadKernel(KernelInit& init)
      : pad(init.input("X"), init.output("Out"), init.input("PadValue"), offsets_of(init.input("X"))),
        length(init, "Length"), offsets(offsets_of(init.input("X"))) {}

  void run(KernelContext& context) override {
    pad.run(context);
    for (int64_t i = 0; i < length.numel(); ++i) {
      length[i] = offsets[static_cast<size_t>(i) + 1] - offsets[static_cast<size_t>(i)];
    }
  }
};

struct SequencePadGradKernel : UnpadKernel {
  explicit SequencePadGradKernel(KernelInit& init)
      : UnpadKernel(init.input("Out@GRAD"), init.output("X@GRAD"), offsets_of(init.input("X"))) {}
};

// [sequences, length, the axes of a row]
Shape padded(const InferContext& c) {
  const Offsets* offsets = plain_sequences(c, "X");
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() > 1 && x.rank() < Shape::kMaxRank, "X has shape ", x.str(), ", it must have 2 to ",
                      Shape::kMaxRank - 1, " dimensions");
  int64_t length = c.attr<int32_t>("padded_length");
  if (offsets) {
    int64_t longest = longest_of(*offsets);
    require<ShapeError>(length == -1 || length >= longest, "attribute 'padded_length' is ", length,
                        ", the longest sequence has ", longest, " rows");
    if (length == -1) length = longest;
  }
  Shape out{count_of(offsets), length};
  for (int i = 1; i < x.rank(); ++i) out.push_back(x[i]);
  return out;
}

void infer_pad(InferContext& c) {
  Shape out = padded(c), row;
  for (int i = 2; i < out.rank(); ++i) row.push_back(out[i]);
  const Shape& pad = c.shape("PadValue");
  require_same_dtype(c, "PadValue", "X");
  require<ShapeError>(!pad.known() || pad.numel() == 1 || shapes_agree(pad, row), "PadValue has shape ", pad.str(),
                      ", it must be one element, or a row ", row.str());
  set_plain(c, "Out", c.input("X").dtype, out);
  set_plain(c, "Length", DType::Int64, {out[0]});
}

}  // namespace

void define_sequence_pad(OpTable& ops) {
  ops.add(OpSchema("sequence_pad")
              .doc("Out[i] = sequence i of X padded with PadValue to one length for all.")
              .input("X", "sequences of rows [T, ...]")
              .input("PadValue", "one element, or a row, of X's element type")
              .output("Out", "[sequences, length, ...]")
              .output("Length", "[sequences], int64: the number of rows of each")
              .attr("padded_length", -1, "length of Out; -1: that of the longest sequence", at_least(-1))
              .infer(infer_pad)
              .custom_lod()
              .gradient("sequence_pad_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .cpu_only("processes sequences of different lengths one after the other")
              .kernel_for_any<SequencePadKernel>());
  ops.add(ops.gradient_of("sequence_pad")
              .doc("X@GRAD = the rows of Out@GRAD that come from X.")
              .input("X", "as in sequence_pad; its values are not read")
              .infer([](InferContext& c) {
                require_gradient_of(c, "Out@GRAD", "X", padded(c));
                gradients_like_inputs(c);
              })
              .kernel_for_any<SequencePadGradKernel>());
}

}  // namespace paddle_mini

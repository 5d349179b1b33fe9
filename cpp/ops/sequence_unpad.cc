// sequence_unpad: sequence i of Out = the first Length[i] rows of X[i]
#include "ops/family/sequence_padding.h"

namespace paddle_mini {
namespace {

struct SequenceUnpadKernel : UnpadKernel {
  explicit SequenceUnpadKernel(KernelInit& init)
      : UnpadKernel(init.input("X"), init.output("Out"), offsets_of(init.output("Out"))) {}
};

struct SequenceUnpadGradKernel : PadKernel {
  explicit SequenceUnpadGradKernel(KernelInit& init)
      : PadKernel(init.input("Out@GRAD"), init.output("X@GRAD"), nullptr, offsets_of(init.input("Out@GRAD"))) {}
};

// One number per row becomes a column.
Shape unpadded(const Shape& x, int64_t rows) {
  require<ShapeError>(x.rank() > 1, "X has shape ", x.str(), ", it must have at least 2 dimensions");
  Shape out{rows};
  if (x.rank() == 2) out.push_back(1);
  for (int i = 2; i < x.rank(); ++i) out.push_back(x[i]);
  return out;
}

void infer_unpad(InferContext& c) {
  const Shape& x = c.shape("X");
  Shape out = unpadded(x, -1);
  require_rank(c, "Length", 1);
  require<ShapeError>(dims_agree(c.shape("Length")[0], x[0]), "Length has shape ", c.shape("Length").str(), ", X has ",
                      x.str());
  std::optional<std::vector<int64_t>> lengths = c.integers("Length");
  if (!lengths) {
    set_sequences(c, "Out", c.input("X").dtype, out, nullptr);
    return;
  }
  Offsets offsets{0};
  for (int64_t length : *lengths) {
    require<OpError>(length >= 0 && length <= x[1], "Length has ", length, ", X has ", x[1], " rows");
    offsets.push_back(offsets.back() + length);
  }
  set_sequences(c, "Out", c.input("X").dtype, with_rows(out, offsets.back()), &offsets);
}

void infer_unpad_grad(InferContext& c) {
  const Offsets* offsets = plain_sequences(c, "Out@GRAD");
  const Shape& x = c.shape("X");
  require_gradient_of(c, "Out@GRAD", "X", unpadded(x, -1));
  require<ShapeError>(dims_agree(count_of(offsets), x[0]), "Out@GRAD has ", count_of(offsets),
                      " sequences, X has shape ", x.str());
  require<ShapeError>(!offsets || x[1] < 0 || longest_of(*offsets) <= x[1], "Out@GRAD has a sequence of ",
                      offsets ? longest_of(*offsets) : 0, " rows, X has shape ", x.str());
  gradients_like_inputs(c);
}

}  // namespace

void define_sequence_unpad(OpTable& ops) {
  ops.add(OpSchema("sequence_unpad")
              .doc("Sequence i of Out = the first Length[i] rows of X[i]. The number of rows depends on data.")
              .input("X", "[sequences, length, ...]")
              .input("Length", "[sequences], int32 or int64")
              .output("Out", "[T, ...], or [T, 1] from [sequences, length]")
              .infer(infer_unpad)
              .gradient("sequence_unpad_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .cpu_only("its result's size depends on data")
              .kernel_for_any<SequenceUnpadKernel>());
  ops.add(ops.gradient_of("sequence_unpad")
              .doc("X@GRAD = the rows of Out@GRAD at their positions in X, which its sequences give; 0 after them.")
              .input("X", "as in sequence_unpad; its values are not read")
              .infer(infer_unpad_grad)
              .kernel_for_any<SequenceUnpadGradKernel>());
}

}  // namespace paddle_mini

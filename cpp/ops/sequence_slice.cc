// sequence_slice: sequence i of Out = Length[i] rows of sequence i of X, beginning at its row Offset[i]
#include "math/row_runs.h"

namespace paddle_mini {
namespace {

void check_part(int64_t i, int64_t offset, int64_t length, int64_t rows) {
  bool inside = offset >= 0 && length >= 0 && offset <= rows && length <= rows - offset;
  require<OpError>(inside, "sequence ", i, " has ", rows, " rows; Offset ", offset, " and Length ", length,
                   " are not within it");
}

struct SequenceSliceKernel : Kernel {
  const Variable *x, *out;
  IndexIn offset;
  Offsets from, to;
  size_t bytes;

  explicit SequenceSliceKernel(KernelInit& init)
      : x(init.input("X")), out(init.output("Out")), offset(init, "Offset"), from(offsets_of(x)), to(offsets_of(out)),
        bytes(row_bytes(out)) {}

  void run(KernelContext&) override {
    for (size_t i = 0; i + 1 < from.size(); ++i) {
      copy_run(x, out, bytes, {from[i] + offset[static_cast<int64_t>(i)], to[i], to[i + 1] - to[i]});
    }
  }
};

// Independent of the element type, since all bytes of a zero are 0.
struct SequenceSliceGradKernel : Kernel {
  const Variable *out_gradient, *x_gradient;
  IndexIn offset, length;
  Offsets offsets;
  size_t bytes;

  explicit SequenceSliceGradKernel(KernelInit& init)
      : out_gradient(init.input("Out@GRAD")), x_gradient(init.output("X@GRAD")), offset(init, "Offset"),
        length(init, "Length"), offsets(offsets_of(init.input("X"))), bytes(row_bytes(x_gradient)) {}

  void run(KernelContext&) override {
    int64_t total = 0, rows = out_gradient->tensor.shape[0];
    for (int64_t i = 0; i < offset.numel(); ++i) {
      size_t at = static_cast<size_t>(i);
      check_part(i, offset[i], length[i], offsets[at + 1] - offsets[at]);
      total += length[i];
    }
    require<OpError>(total == rows, "Length is ", total, " rows in all, Out@GRAD has ", rows);
    std::fill_n(row_of(x_gradient, 0, 0), x_gradient->tensor.bytes(), '\0');
    int64_t at = 0;
    for (int64_t i = 0; i < offset.numel(); ++i) {
      copy_run(out_gradient, x_gradient, bytes, {at, offsets[static_cast<size_t>(i)] + offset[i], length[i]});
      at += length[i];
    }
  }
};

// The sequences of X; checks that Offset and Length have a row for each of them.
const Offsets* sliced(const InferContext& c) {
  const Offsets* x = plain_sequences(c, "X");
  for (const char* port : {"Offset", "Length"}) {
    require_index(c, port);
    Shape wanted{count_of(x), 1};
    require<ShapeError>(shapes_agree(c.shape(port), wanted), port, " has shape ", c.shape(port).str(), ", it must be ",
                        wanted.str());
  }
  return x;
}

void infer_slice(InferContext& c) {
  const Offsets* x = sliced(c);
  std::optional<std::vector<int64_t>> offset = c.integers("Offset"), length = c.integers("Length");
  const VarInfo& info = c.input("X");
  if (!x || !offset || !length) {
    set_sequences(c, "Out", info.dtype, with_rows(info.shape, -1), nullptr);
    return;
  }
  Offsets out{0};
  for (size_t i = 0; i < length->size(); ++i) {
    check_part(static_cast<int64_t>(i), (*offset)[i], (*length)[i], (*x)[i + 1] - (*x)[i]);
    out.push_back(out.back() + (*length)[i]);
  }
  set_sequences(c, "Out", info.dtype, with_rows(info.shape, out.back()), &out);
}

}  // namespace

void define_sequence_slice(OpTable& ops) {
  ops.add(OpSchema("sequence_slice")
              .doc("Sequence i of Out = Length[i] rows of sequence i of X, starting at its row Offset[i].")
              .input("X", "sequences of rows of any shape")
              .input("Offset", "[sequences, 1], int32 or int64")
              .input("Length", "[sequences, 1], int32 or int64")
              .output("Out", "rows of X; their number depends on data")
              .infer(infer_slice)
              .gradient("sequence_slice_grad", {"X", "Offset", "Length", "Out@GRAD"}, {"X@GRAD"})
              .cpu_only("its result's size depends on data")
              .kernel_for_any<SequenceSliceKernel>());
  ops.add(ops.gradient_of("sequence_slice")
              .doc("X@GRAD = Out@GRAD at the rows that Out has, 0 elsewhere.")
              .input("X", "as in sequence_slice; its values are not read")
              .checks_data()
              .kernel_for_any<SequenceSliceGradKernel>());
}

}  // namespace paddle_mini

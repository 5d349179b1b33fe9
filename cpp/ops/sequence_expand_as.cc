// sequence_expand_as: Out = row i of X, repeated as often as sequence i of Y has rows
#include "math/row_runs.h"

namespace paddle_mini {
namespace {

struct SequenceExpandAsKernel : RowRunsKernel {
  explicit SequenceExpandAsKernel(KernelInit& init)
      : RowRunsKernel(init.input("X"), init.output("Out"), repeated(nullptr, offsets_of(init.input("Y")))) {}
};

template <class T>
struct SequenceExpandAsGradKernel : RowRunsGradKernel<T> {
  explicit SequenceExpandAsGradKernel(KernelInit& init)
      : RowRunsGradKernel<T>(init, repeated(nullptr, offsets_of(init.input("Y")))) {}
};

VarInfo expanded_rows(const InferContext& c) {
  VarInfo out = c.input("X");
  require<ShapeError>(out.shape.rank() > 0, "X has no dimensions, so it has no rows to repeat");
  int64_t count = count_of(plain_sequences(c, "Y"));
  require<ShapeError>(dims_agree(count, out.shape[0]), "X has ", out.shape[0], " rows, Y has ", count, " sequences");
  out.shape[0] = c.shape("Y")[0];
  out.lod = c.input("Y").lod;
  out.lod_level = 1;
  if (out.shape.known()) out.shape.numel();  // refuses a shape that is too large
  return out;
}

}  // namespace

void define_sequence_expand_as(OpTable& ops) {
  ops.add(OpSchema("sequence_expand_as")
              .doc("Out = row i of X repeated n times, where n is the length of sequence i of Y.")
              .input("X", "a row for each sequence of Y")
              .input("Y", "sequences of one level; its values are not read")
              .output("Out", "rows of X in the sequences of Y")
              .infer([](InferContext& c) { c.set_output("Out", expanded_rows(c)); })
              .gradient("sequence_expand_as_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD"})
              .cpu_only("processes sequences of different lengths one after the other")
              .kernel_for_any<SequenceExpandAsKernel>());
  ops.add(ops.gradient_of("sequence_expand_as")
              .doc("X@GRAD = the sum of Out@GRAD over each sequence.")
              .input("X", "as in sequence_expand_as; its values are not read")
              .kernels<SequenceExpandAsGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

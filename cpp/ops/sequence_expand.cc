// sequence_expand: Out = each sequence of X, repeated as often as the corresponding sequence of Y has elements
#include "math/row_runs.h"

namespace paddle_mini {
namespace {

// The level of Y's lod selected by ref_level.
const Offsets& reference_level(const Lod& lod, int32_t ref_level) {
  return ref_level == -1 ? lod.back() : lod[static_cast<size_t>(ref_level)];
}

// If Y has no sequences at all, nothing is repeated and Out is X.
RowRuns expanded_runs(const KernelInit& init) {
  const Variable& x = *init.input("X");
  offsets_of(init.input("Y"));  // refuses a Y without sequences
  const Offsets& y = reference_level(init.input("Y")->tensor.lod, init.attr<int32_t>("ref_level"));
  if (y.size() == 1) return {{0, 0, x.tensor.shape[0]}};
  return repeated(x.tensor.lod.empty() ? nullptr : &offsets_of(&x), y);
}

struct SequenceExpandKernel : RowRunsKernel {
  explicit SequenceExpandKernel(KernelInit& init)
      : RowRunsKernel(init.input("X"), init.output("Out"), expanded_runs(init)) {}
};

template <class T>
struct SequenceExpandGradKernel : RowRunsGradKernel<T> {
  explicit SequenceExpandGradKernel(KernelInit& init) : RowRunsGradKernel<T>(init, expanded_runs(init)) {}
};

// The sequences of Out; if X has none, each row is a sequence.
Offsets expanded_offsets(const Offsets* x, const Offsets& y) {
  Offsets out{0};
  for (size_t i = 0; i + 1 < y.size(); ++i) {
    int64_t rows = x ? (*x)[i + 1] - (*x)[i] : 1;
    for (int64_t times = y[i + 1] - y[i]; times > 0; --times) out.push_back(out.back() + rows);
  }
  return out;
}

VarInfo expanded(const InferContext& c) {
  VarInfo out = c.input("X");
  int32_t ref_level = c.attr<int32_t>("ref_level");
  const Offsets* known = sequences(c, "Y");
  int levels = c.input("Y").lod_level;
  require<ProgramError>(levels == 0 || ref_level < levels, "attribute 'ref_level' is ", ref_level, ", Y has ", levels,
                        " levels of sequences");
  require<ShapeError>(out.shape.rank() > 0, "X has no dimensions, so it has no rows to repeat");
  require<ShapeError>(out.lod_level <= 1, "X has ", out.lod_level, " levels of sequences, it must have at most one");
  const Offsets* x = out.lod_level > 0 ? sequences(c, "X") : nullptr;
  if (!known || (out.lod_level > 0 && !x)) {
    out.shape[0] = -1;
    return out;
  }
  const Offsets& y = reference_level(c.input("Y").lod, ref_level);
  if (y.size() == 1) return out;
  int64_t count = x ? count_of(x) : out.shape[0];
  require<ShapeError>(dims_agree(count, count_of(&y)), "X has ", count, " sequences, Y has ", count_of(&y));
  Offsets offsets = expanded_offsets(x, y);
  out.shape[0] = offsets.back();
  if (x) out.lod = {offsets};
  if (out.shape.known()) out.shape.numel();  // refuses a shape that is too large
  return out;
}

}  // namespace

void define_sequence_expand(OpTable& ops) {
  ops.add(OpSchema("sequence_expand")
              .doc("Out = sequence i, or row i, of X repeated n times, where n is the length of sequence i in a level "
                   "of Y's lod. If that level has no sequences, Out is X.")
              .input("X", "rows, or sequences of one level")
              .input("Y", "sequences; its values are not read")
              .output("Out", "rows of X; sequences if X has them")
              .attr("ref_level", -1, "the level of Y's lod with the numbers of repetitions; -1: the last", at_least(-1))
              .infer([](InferContext& c) { c.set_output("Out", expanded(c)); })
              .custom_lod()
              .gradient("sequence_expand_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD"})
              .cpu_only("processes sequences of different lengths one after the other")
              .kernel_for_any<SequenceExpandKernel>());
  ops.add(ops.gradient_of("sequence_expand")
              .doc("X@GRAD = the sum of Out@GRAD at the copies of each row.")
              .input("X", "as in sequence_expand; its values are not read")
              .kernels<SequenceExpandGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

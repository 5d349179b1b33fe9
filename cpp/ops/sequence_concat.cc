// sequence_concat: sequence i of Out = the concatenation of sequence i of each X
#include "math/row_runs.h"

namespace paddle_mini {
namespace {

// The positions in Out of the sequences of each X.
std::vector<RowRuns> concatenated_runs(const KernelInit& init) {
  std::vector<RowRuns> runs(init.input_count("X"));
  int64_t to = 0;
  for (size_t i = 0; i + 1 < offsets_of(init.input("X")).size(); ++i) {
    for (size_t part = 0; part < runs.size(); ++part) {
      const Offsets& x = offsets_of(init.input("X", part));
      runs[part].push_back({x[i], to, x[i + 1] - x[i]});
      to += x[i + 1] - x[i];
    }
  }
  return runs;
}

struct SequenceConcatKernel : Kernel {
  std::vector<RowRunsKernel> parts;

  explicit SequenceConcatKernel(KernelInit& init) {
    std::vector<RowRuns> runs = concatenated_runs(init);
    for (size_t i = 0; i < runs.size(); ++i) parts.emplace_back(init.input("X", i), init.output("Out"), runs[i]);
  }
  void run(KernelContext& context) override {
    for (RowRunsKernel& part : parts) part.run(context);
  }
};

struct SequenceConcatGradKernel : Kernel {
  std::vector<RowRunsKernel> parts;

  explicit SequenceConcatGradKernel(KernelInit& init) {
    std::vector<RowRuns> runs = concatenated_runs(init);
    for (size_t i = 0; i < runs.size(); ++i) {
      for (RowRun& run : runs[i]) std::swap(run.from, run.to);
      if (init.output("X@GRAD", i)) parts.emplace_back(init.input("Out@GRAD"), init.output("X@GRAD", i), runs[i]);
    }
  }
  void run(KernelContext& context) override {
    for (RowRunsKernel& part : parts) part.run(context);
  }
};

VarInfo joined(const InferContext& c) {
  VarInfo out = c.input("X");
  const Offsets* first = plain_sequences(c, "X");
  Offsets total(first ? first->size() : 0);
  bool known = true;
  int64_t rows = 0;
  for (size_t i = 0; i < c.input_count("X"); ++i) {
    const VarInfo& x = c.input("X", i);
    const Offsets* offsets = plain_sequences(c, "X", i);
    require<ShapeError>(shapes_agree(with_rows(x.shape, -1), with_rows(out.shape, -1)), "X[", i, "] has shape ",
                        x.shape.str(), ", X[0] has ", c.shape("X").str());
    require<ShapeError>(x.dtype == out.dtype, "X[", i, "] is ", name_of(x.dtype), ", X[0] is ", name_of(out.dtype));
    require<ShapeError>(dims_agree(count_of(offsets), count_of(first)), "X[", i, "] has ", count_of(offsets),
                        " sequences, X[0] has ", count_of(first));
    for (int d = 1; d < out.shape.rank(); ++d) out.shape[d] = std::max(out.shape[d], x.shape[d]);
    rows = rows < 0 || x.shape[0] < 0 ? -1 : rows + x.shape[0];
    known = known && first && offsets;
    for (size_t k = 0; known && k < total.size(); ++k) total[k] += (*offsets)[k];
  }
  out.shape[0] = rows;
  out.lod_level = 1;
  out.lod.clear();
  if (known) out.lod.push_back(total);
  return out;
}

}  // namespace

void define_sequence_concat(OpTable& ops) {
  ops.add(OpSchema("sequence_concat")
              .doc("Sequence i of Out = sequence i of each X, one after the other.")
              .input_list("X", "tensors with equal numbers of sequences, with rows of one shape and element type")
              .output("Out", "all rows of the Xs")
              .infer([](InferContext& c) { c.set_output("Out", joined(c)); })
              .gradient("sequence_concat_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .cpu_only("processes sequences of different lengths one after the other")
              .kernel_for_any<SequenceConcatKernel>());
  ops.add(ops.gradient_of("sequence_concat")
              .doc("Each X@GRAD = the rows of Out@GRAD that come from X.")
              .input_list("X", "as in sequence_concat; their values are not read")
              .infer([](InferContext& c) {
                require_gradient_of(c, "Out@GRAD", "X", joined(c).shape);
                require<ProgramError>(c.output_count("X@GRAD") <= c.input_count("X"), "there are ",
                                      c.output_count("X@GRAD"), " X@GRAD for ", c.input_count("X"), " X");
                gradients_like_inputs(c);
              })
              .kernel_for_any<SequenceConcatGradKernel>());
}

}  // namespace paddle_mini

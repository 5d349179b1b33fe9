// sequence_reverse: Y = X with the rows of each sequence in reverse order
#include "math/row_runs.h"

namespace paddle_mini {
namespace {

RowRuns back_to_front(const Offsets& offsets) {
  RowRuns runs;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    for (int64_t row = offsets[i]; row < offsets[i + 1]; ++row) {
      runs.push_back({offsets[i] + offsets[i + 1] - 1 - row, row, 1});
    }
  }
  return runs;
}

struct SequenceReverseKernel : RowRunsKernel {
  explicit SequenceReverseKernel(KernelInit& init)
      : RowRunsKernel(init.input("X"), init.output("Y"), back_to_front(offsets_of(init.input("X")))) {}
};

}  // namespace

void define_sequence_reverse(OpTable& ops) {
  ops.add(OpSchema("sequence_reverse")
              .doc("Y = X with the rows of each sequence in reverse order.")
              .input("X", "sequences of rows of any shape")
              .output("Y", "shape and sequences of X")
              .infer([](InferContext& c) {
                plain_sequences(c, "X");
                c.set_output("Y", c.input("X"));
              })
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op("sequence_reverse", {{"X", gradient_names(forward.output("Y"))}},
                                                   {{"Y", gradient_names(forward.input("X"))}})};
              })
              .cpu_only("processes sequences of different lengths one after the other")
              .kernel_for_any<SequenceReverseKernel>());
}

}  // namespace paddle_mini

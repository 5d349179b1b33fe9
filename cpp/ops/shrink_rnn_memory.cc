// shrink_rnn_memory: Out = the first rows of X, for the sequences that have a step I
#include <algorithm>

#include "core/op_table.h"
#include "math/rank_table.h"

namespace paddle_mini {
namespace {

void run_shrink_rnn_memory(ControlRun& run) {
  RankTable table(run, "RankTable");
  int64_t entries = table.active(std::max<int64_t>(run.integer("I"), 0));
  const Tensor& x = tensor_with_rows(run, "X");
  int64_t there = x.lod.empty() ? x.shape[0] : static_cast<int64_t>(x.lod[0].size()) - 1;
  require<ShapeError>(entries <= there, "X has ", there, " entries, ", entries, " sequences have step I");
  Lod lod = empty_levels(x.lod.size());
  RowRange rows = cut_levels(x.lod, 0, 0, entries, lod);
  Variable out = run.share_input("X");  // the same memory, fewer rows
  out.tensor.shape[0] = rows.end;
  out.tensor.lod = std::move(lod);
  run.set_output("Out", 0, std::move(out));
}

void run_shrink_rnn_memory_grad(ControlRun& run) {
  const Tensor& x = tensor_with_rows(run, "X");
  Tensor gradient = new_tensor(x.dtype, x.shape);
  gradient.lod = x.lod;
  size_t given = 0;
  if (const Variable* held = run.find_input("Out@GRAD")) {
    const Tensor& from = held->tensor;
    Shape like = from.shape;
    if (like.rank() == x.shape.rank()) like[0] = x.shape[0];
    bool fits =
        held->kind == VarKind::Tensor && from.dtype == x.dtype && like == x.shape && from.shape[0] <= x.shape[0];
    require<ShapeError>(fits, "Out@GRAD is ", held->info().str(), ", X is ", x.shape.str(), " ", name_of(x.dtype));
    given = from.bytes();
    if (given) std::memcpy(gradient.data, from.data, given);
  }
  if (gradient.bytes() > given) std::memset(static_cast<char*>(gradient.data) + given, 0, gradient.bytes() - given);
  run.set_output("X@GRAD", 0, tensor_variable(std::move(gradient)));
}

}  // namespace

void define_shrink_rnn_memory(OpTable& ops) {
  ops.add(OpSchema("shrink_rnn_memory")
              .doc("Out = the first n entries of X, where n is the number of sequences with a step I. Entries of X are "
                   "in the order of RankTable, so finished sequences come last.")
              .input("X", "rows, or sequences, in the order of RankTable")
              .input("RankTable", "from lod_rank_table")
              .input("I", "one int32 or int64: the step")
              .output("Out", "the first rows of X")
              .gradient("shrink_rnn_memory_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .cpu_only("keeps the rows of the sequences that have a step, by a table that stays on the host")
              .control(&run_shrink_rnn_memory));
  ops.add(ops.gradient_of("shrink_rnn_memory")
              .doc("X@GRAD = Out@GRAD, and 0 for the removed rows.")
              .optional_input("Out@GRAD", "gradient of Out; 0 if omitted")
              .control(&run_shrink_rnn_memory_grad));
}

}  // namespace paddle_mini

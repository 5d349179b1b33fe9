// reorder_lod_tensor_by_rank: Out = the sequences, or rows, of X in the order of a rank table
#include "core/op_table.h"
#include "math/rank_table.h"

namespace paddle_mini {
namespace {

// Entry i of Out is entry order[i] of X.
void reorder(ControlRun& run, const std::vector<int64_t>& order) {
  const Tensor& x = tensor_with_rows(run, "X");
  int64_t entries = x.lod.empty() ? x.shape[0] : static_cast<int64_t>(x.lod[0].size()) - 1;
  require<ShapeError>(entries == static_cast<int64_t>(order.size()), "X has ", entries, " entries, RankTable has ",
                      order.size());
  Tensor out = new_tensor(x.dtype, x.shape);
  out.lod = empty_levels(x.lod.size());
  RowWriter writer(out);
  for (int64_t from : order) writer.copy(x, cut_levels(x.lod, 0, from, from + 1, out.lod));
  run.set_output("Out", 0, tensor_variable(std::move(out)));
}

void run_reorder(ControlRun& run) {
  RankTable table(run, "RankTable");
  std::vector<int64_t> order;
  for (int64_t i = 0; i < table.count; ++i) order.push_back(table.index(i));
  reorder(run, order);
}

void run_reorder_grad(ControlRun& run) {
  RankTable table(run, "RankTable");
  std::vector<int64_t> order(static_cast<size_t>(table.count));
  for (int64_t i = 0; i < table.count; ++i) order[static_cast<size_t>(table.index(i))] = i;
  reorder(run, order);
}

}  // namespace

void define_reorder_lod_tensor_by_rank(OpTable& ops) {
  ops.add(OpSchema("reorder_lod_tensor_by_rank")
              .doc("Out = the sequences of X in the order of RankTable; if X has no sequences, its rows.")
              .input("X", "as many sequences, or rows, as RankTable has entries")
              .input("RankTable", "from lod_rank_table")
              .output("Out", "shape of X")
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{
                    make_op("reorder_lod_tensor_by_rank_grad",
                            {{"X", gradient_names(forward.output("Out"))}, {"RankTable", forward.input("RankTable")}},
                            {{"Out", gradient_names(forward.input("X"))}})};
              })
              .cpu_only("puts sequences in the order of a table that stays on the host")
              .control(&run_reorder));
  ops.add(OpSchema("reorder_lod_tensor_by_rank_grad")
              .doc("Out = X in the order before reorder_lod_tensor_by_rank. X is the gradient of that operator's Out; "
                   "Out is that of its X.")
              .input("X", "gradient of reorder_lod_tensor_by_rank's Out")
              .input("RankTable", "as in reorder_lod_tensor_by_rank")
              .output("Out", "gradient of reorder_lod_tensor_by_rank's X")
              .cpu_only("puts sequences in the order of a table that stays on the host")
              .control(&run_reorder_grad));
}

}  // namespace paddle_mini

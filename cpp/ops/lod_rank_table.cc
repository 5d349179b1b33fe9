// lod_rank_table: the sequences of a level of X, sorted by length, the longest first
#include <algorithm>
#include <numeric>

#include "core/op_table.h"
#include "math/rank_table.h"

namespace paddle_mini {
namespace {

void run_lod_rank_table(ControlRun& run) {
  const Lod& lod = tensor_with_rows(run, "X").lod;
  auto level = static_cast<size_t>(run.attr<int32_t>("level"));
  require<ShapeError>(!lod.empty(), "X has no sequences (lod)");
  require<ShapeError>(level < lod.size(), "attribute 'level' is ", level, ", X has ", lod.size(),
                      " levels of sequences (lod)");
  const auto& offsets = lod[level];
  std::vector<int64_t> order(offsets.size() - 1);
  std::iota(order.begin(), order.end(), int64_t{0});
  auto length = [&](int64_t i) { return offsets[static_cast<size_t>(i) + 1] - offsets[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return length(a) > length(b); });
  Variable table;
  table.kind = VarKind::LodRankTable;
  table.tensor = new_tensor(DType::Int64, Shape{static_cast<int64_t>(order.size()), 2});
  int64_t* to = table.tensor.as<int64_t>();
  for (int64_t i : order) *to++ = i, *to++ = length(i);
  table.tensor.lod = Lod(lod.begin(), lod.begin() + static_cast<int64_t>(level));
  run.set_output("Out", 0, std::move(table));
}

}  // namespace

void define_lod_rank_table(OpTable& ops) {
  ops.add(OpSchema("lod_rank_table")
              .doc("Out = the sequences of a level of X in descending order of length; the sort is stable.")
              .input("X", "a tensor with sequences (lod)")
              .output("Out", "a rank table: (index, length) of each sequence")
              .attr("level", 0, "the lod level of the sequences", between(0, 7))
              .no_gradient("its output is lengths, which are integers")
              .cpu_only("computes a table of sequences, which stays on the host")
              .control(&run_lod_rank_table));
}

}  // namespace paddle_mini

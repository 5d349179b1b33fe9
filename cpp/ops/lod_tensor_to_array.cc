// lod_tensor_to_array: Out[t] = step t of every sequence of X that is long enough
#include "core/op_table.h"
#include "math/rank_table.h"

namespace paddle_mini {
namespace {

void check_sequences(const Tensor& x, const RankTable& table) {
  size_t level = table.level();
  require<ShapeError>(!x.lod.empty(), "X has no sequences (lod)");
  require<ShapeError>(level < x.lod.size(), "X has ", x.lod.size(),
                      " levels of sequences (lod), RankTable is of level ", level);
  const auto& offsets = x.lod[level];
  bool fits = table.count == static_cast<int64_t>(offsets.size()) - 1;
  for (int64_t i = 0; fits && i < table.count; ++i) {
    auto at = static_cast<size_t>(table.index(i));
    fits = offsets[at + 1] - offsets[at] == table.length(i);
  }
  require<ShapeError>(fits, "RankTable and X have different sequences");
}

void run_lod_tensor_to_array(ControlRun& run) {
  RankTable table(run, "RankTable");
  const Tensor& x = tensor_with_rows(run, "X");
  check_sequences(x, table);
  size_t level = table.level();
  Variable array;
  array.kind = VarKind::TensorArray;
  std::vector<RowRange> ranges;
  for (int64_t step = 0; step < table.longest(); ++step) {
    Lod lod = empty_levels(x.lod.size() - level - 1);
    Shape shape = x.shape;
    shape[0] = 0;
    ranges.clear();
    for (int64_t i = 0, n = table.active(step); i < n; ++i) {
      int64_t entry = x.lod[level][static_cast<size_t>(table.index(i))] + step;
      ranges.push_back(cut_levels(x.lod, level + 1, entry, entry + 1, lod));
      shape[0] += ranges.back().end - ranges.back().begin;
    }
    Tensor element = new_tensor(x.dtype, shape);
    element.lod = std::move(lod);
    RowWriter writer(element);
    for (RowRange range : ranges) writer.copy(x, range);
    array.array.push_back(std::move(element));
  }
  run.set_output("Out", 0, std::move(array));
}

}  // namespace

void define_lod_tensor_to_array(OpTable& ops) {
  ops.add(OpSchema("lod_tensor_to_array")
              .doc("Out[t] = step t of every sequence of X that is long enough, in the order of RankTable.")
              .input("X", "a tensor with sequences (lod)")
              .input("RankTable", "from lod_rank_table, for the same sequences")
              .output("Out", "a tensor array with one element for each step of the longest sequence")
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{
                    make_op("array_to_lod_tensor",
                            {{"X", gradient_names(forward.output("Out"))}, {"RankTable", forward.input("RankTable")}},
                            {{"Out", gradient_names(forward.input("X"))}})};
              })
              .cpu_only("splits sequences into steps of different sizes")
              .control(&run_lod_tensor_to_array));
}

}  // namespace paddle_mini

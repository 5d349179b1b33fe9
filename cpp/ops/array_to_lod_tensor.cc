// array_to_lod_tensor: Out = the sequences whose steps are the elements of X
#include "core/op_table.h"
#include "core/outside_values.h"
#include "math/rank_table.h"

namespace paddle_mini {
namespace {

// Throws if the array does not contain every step of the table. Returns the shape of all sequences together.
Shape check_steps(const std::vector<Tensor>& steps, const RankTable& table) {
  require<OpError>(!steps.empty(), "X has no elements");
  require<ShapeError>(static_cast<int64_t>(steps.size()) >= table.longest(), "X has ", steps.size(),
                      " elements, the longest sequence has ", table.longest(), " steps");
  Shape shape = steps[0].shape;
  int64_t rows = 0;
  for (size_t t = 0; t < steps.size(); ++t) {
    const Tensor& step = steps[t];
    require<OpError>(step.data, "element ", t, " of X has no value");
    check_lod(step.lod, step.shape, "X");
    Shape like = step.shape;
    if (like.rank() > 0 && like.rank() == shape.rank()) like[0] = shape[0];
    require<ShapeError>(like.rank() > 0 && like == shape && step.dtype == steps[0].dtype &&
                            step.lod.size() == steps[0].lod.size(),
                        "element ", t, " of X is ", step.shape.str(), " ", name_of(step.dtype), ", element 0 is ",
                        shape.str(), " ", name_of(steps[0].dtype));
    int64_t entries = step.lod.empty() ? step.shape[0] : static_cast<int64_t>(step.lod[0].size()) - 1;
    int64_t active = table.active(static_cast<int64_t>(t));
    require<ShapeError>(entries == active, "element ", t, " of X has ", entries, " entries, ", active,
                        " sequences have this step");
    rows += step.shape[0];
  }
  shape[0] = rows;
  return shape;
}

void run_array_to_lod_tensor(ControlRun& run) {
  RankTable table(run, "RankTable");
  const std::vector<Tensor>& steps = run.input("X").array;
  Tensor out = new_tensor(steps.empty() ? DType::Float32 : steps[0].dtype, check_steps(steps, table));
  std::vector<int64_t> rank_of(static_cast<size_t>(table.count));
  for (int64_t i = 0; i < table.count; ++i) rank_of[static_cast<size_t>(table.index(i))] = i;
  Lod lod = *table.above, below = empty_levels(steps[0].lod.size());
  lod.push_back({0});
  RowWriter writer(out);
  for (int64_t rank : rank_of) {
    lod.back().push_back(lod.back().back() + table.length(rank));
    for (int64_t t = 0; t < table.length(rank); ++t) {
      const Tensor& step = steps[static_cast<size_t>(t)];
      writer.copy(step, cut_levels(step.lod, 0, rank, rank + 1, below));
    }
  }
  lod.insert(lod.end(), below.begin(), below.end());
  out.lod = std::move(lod);
  run.set_output("Out", 0, tensor_variable(std::move(out)));
}

}  // namespace

void define_array_to_lod_tensor(OpTable& ops) {
  ops.add(
      OpSchema("array_to_lod_tensor")
          .doc("Out = the sequences whose steps are the elements of X, in the order before lod_tensor_to_array.")
          .input(
              "X",
              "a tensor array: element t has step t of every sequence that is long enough, in the order of RankTable")
          .input("RankTable", "from lod_rank_table")
          .output("Out", "a tensor with sequences (lod)")
          .gradient([](const OpDesc& forward) {
            return std::vector<OpDesc>{
                make_op("lod_tensor_to_array",
                        {{"X", gradient_names(forward.output("Out"))}, {"RankTable", forward.input("RankTable")}},
                        {{"Out", gradient_names(forward.input("X"))}})};
          })
          .cpu_only("assembles sequences from steps of different sizes")
          .control(&run_array_to_lod_tensor));
}

}  // namespace paddle_mini

// max_sequence_len: Out = the length of the longest sequence
#include "core/op_table.h"
#include "math/rank_table.h"

namespace paddle_mini {
namespace {

void run_max_sequence_len(ControlRun& run) {
  Tensor length = new_tensor(DType::Int64, Shape{1});
  *length.as<int64_t>() = RankTable(run, "RankTable").longest();
  run.set_output("Out", 0, tensor_variable(length));
}

}  // namespace

void define_max_sequence_len(OpTable& ops) {
  ops.add(OpSchema("max_sequence_len")
              .doc("Out = the length of the longest sequence; 0 if there are no sequences.")
              .input("RankTable", "from lod_rank_table")
              .output("Out", "int64 [1]")
              .no_gradient("its output is a length, which is an integer")
              .cpu_only("reads a table that stays on the host")
              .control(&run_max_sequence_len));
}

}  // namespace paddle_mini

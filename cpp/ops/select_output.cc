// select_output: Out[Mask] = X; the other outputs are not written
#include "core/op_table.h"

namespace paddle_mini {
namespace {

void run_select_output(ControlRun& run) {
  int64_t which = run.integer("Mask"), count = static_cast<int64_t>(run.op.output("Out").size());
  require<OpError>(which >= 0 && which < count, "Mask is ", which, ", Out has ", count, " variables");
  run.set_output("Out", static_cast<size_t>(which), run.share_input("X"));
}

}  // namespace

void define_select_output(OpTable& ops) {
  ops.add(OpSchema("select_output")
              .doc("Out[Mask] = X. The other variables of Out stay unchanged.")
              .input("X", "a variable of any kind")
              .input("Mask", "one int32 or int64: an index into Out")
              .optional_output_list("Out", "variables; one of them becomes X")
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op(
                    "select_input", {{"X", gradient_names(forward.output("Out"))}, {"Mask", forward.input("Mask")}},
                    {{"Out", gradient_names(forward.input("X"))}})};
              })
              .control(&run_select_output));
}

}  // namespace paddle_mini

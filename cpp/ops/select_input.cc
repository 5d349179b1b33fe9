// select_input: Out = X[Mask]; only the selected tensor needs a value
#include "core/op_table.h"

namespace paddle_mini {
namespace {

void run_select_input(ControlRun& run) {
  int64_t which = run.integer("Mask"), count = static_cast<int64_t>(run.op.input("X").size());
  require<OpError>(which >= 0 && which < count, "Mask is ", which, ", X has ", count, " variables");
  run.set_output("Out", 0, run.share_input("X", static_cast<size_t>(which)));
}

}  // namespace

void define_select_input(OpTable& ops) {
  ops.add(
      OpSchema("select_input")
          .doc("Out = X[Mask]. The other variables of X may have no value, such as those of a branch that did not run.")
          .input_list("X", "variables of any kind")
          .input("Mask", "one int32 or int64: an index into X")
          .output("Out", "like the selected variable")
          .gradient([](const OpDesc& forward) {
            return std::vector<OpDesc>{make_op(
                "select_output", {{"X", gradient_names(forward.output("Out"))}, {"Mask", forward.input("Mask")}},
                {{"Out", gradient_names(forward.input("X"))}})};
          })
          .control(&run_select_input));
}

}  // namespace paddle_mini

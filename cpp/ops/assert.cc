// assert: refuses a run in which a condition is false
#include "core/op_table.h"
#include "ops/family/shown_elements.h"

namespace paddle_mini {
namespace {

void run_assert(ControlRun& run) {
  if (run.truth("Cond")) return;
  TextOfElements data;
  int64_t most = run.attr<int64_t>("summarize");
  for (size_t i = 0; i < run.op.input("Data").size(); ++i) {
    const Variable& value = run.input("Data", i);
    if (value.kind != VarKind::Tensor) continue;
    data << "; " << printable(run.op.input("Data")[i]) << " = [";
    write_elements(data, value.tensor, most < 0 ? value.tensor.shape.numel() : most);
    data << "]";
  }
  throw OpError("the condition '" + printable(run.op.input("Cond")[0]) + "' is false, it must be true" + data.str());
}

}  // namespace

void define_assert(OpTable& ops) {
  ops.add(OpSchema("assert")
              .doc("Refuses the run if Cond is false; the error shows the first elements of Data.")
              .input("Cond", "one bool")
              .optional_input_list("Data", "tensors that the error shows")
              .attr("summarize", int64_t{-1}, "the number of elements of each tensor to show; -1: all")
              .no_gradient("it has no outputs")
              .control(&run_assert));
}

}  // namespace paddle_mini

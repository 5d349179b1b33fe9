// read_from_array: Out = X[I]
#include "core/op_table.h"
#include "math/cpu/accumulate.h"

namespace paddle_mini {
namespace {

void run_read_from_array(ControlRun& run) {
  int64_t i = run.integer("I");
  Variable* array = run.find_input("X");
  require<ShapeError>(!array || array->kind == VarKind::TensorArray, "X '", run.op.input("X")[0], "' is ",
                      array ? name_of(array->kind) : "", ", expected a tensor array");
  int64_t count = array ? static_cast<int64_t>(array->array.size()) : 0;
  bool there = i >= 0 && i < count && array->array[static_cast<size_t>(i)].data;
  if (there) {
    Tensor& element = array->array[static_cast<size_t>(i)];
    Tensor value = element;
    // As the gradient of write_to_array: the write replaced the element's earlier value, which has no gradient.
    if (run.has_input("X_W")) element = Tensor{};
    return run.set_output("Out", 0, tensor_variable(std::move(value)));
  }
  // As the gradient of write_to_array: an element that was never read has a gradient of zeros.
  require<OpError>(run.has_input("X_W"), "element ", i, " of X '", run.op.input("X")[0], "' has no value; it has ",
                   count, " elements");
  run.set_output("Out", 0, zeros_like(run.input("X_W")));
}

}  // namespace

void define_read_from_array(OpTable& ops) {
  ops.add(OpSchema("read_from_array")
              .doc("Out = X[I].")
              .input("X", "a tensor array")
              .input("I", "one int32 or int64: the index of the element")
              .optional_input("X_W", "for the gradient of write_to_array: the written value, whose shape zeros have")
              .output("Out", "the element")
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{
                    make_op("write_to_array", {{"I", forward.input("I")}, {"X", gradient_names(forward.output("Out"))}},
                            {{"Out", gradient_names(forward.input("X"))}})};
              })
              .control(&run_read_from_array));
}

}  // namespace paddle_mini

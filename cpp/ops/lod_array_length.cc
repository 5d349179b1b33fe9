// lod_array_length: Out = the number of elements of X
#include "core/op_table.h"

namespace paddle_mini {
namespace {

void run_lod_array_length(ControlRun& run) {
  Variable* array = run.find_input("X");
  require<ShapeError>(!array || array->kind == VarKind::TensorArray, "X '", run.op.input("X")[0], "' is ",
                      array ? name_of(array->kind) : "", ", expected a tensor array");
  Tensor length = new_tensor(DType::Int64, Shape{1});
  *length.as<int64_t>() = array ? static_cast<int64_t>(array->array.size()) : 0;
  run.set_output("Out", 0, tensor_variable(length));
}

}  // namespace

void define_lod_array_length(OpTable& ops) {
  ops.add(OpSchema("lod_array_length")
              .doc("Out = the number of elements of X; 0 for an array without elements.")
              .input("X", "a tensor array")
              .output("Out", "int64 [1]")
              .no_gradient("a number of elements")
              .cpu_only("counts the elements of an array, which the host knows")
              .control(&run_lod_array_length));
}

}  // namespace paddle_mini

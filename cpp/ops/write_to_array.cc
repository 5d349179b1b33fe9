// write_to_array: Out[I] = X
#include "core/op_table.h"
#include "math/cpu/accumulate.h"

namespace paddle_mini {
namespace {

// Elements without a value take memory too, so this limits how much a wrong index can allocate.
constexpr int64_t kMostAfterEnd = int64_t{1} << 20;

// As the gradient of read_from_array: an element that is read more than once has the sum of the gradients.
bool is_gradient(const std::string& name) { return name.find(kGradSuffix) != std::string::npos; }

void run_write_to_array(ControlRun& run) {
  int64_t i = run.integer("I");
  Variable element = run.share_input("X");
  require<OpError>(element.kind == VarKind::Tensor, "X is ", name_of(element.kind), ", it must be a tensor");
  Variable* held = run.find(run.frame, run.op.output("Out")[0]);
  bool is_array = held && held->kind == VarKind::TensorArray;
  int64_t most = kMostAfterEnd + (is_array ? static_cast<int64_t>(held->array.size()) : 0);
  require<OpError>(i >= 0 && i < most, "I is ", i, ", expected one in [0, ", most, "): Out has ", most - kMostAfterEnd,
                   " elements");
  if (!is_array) {
    Variable fresh;
    fresh.kind = VarKind::TensorArray;
    run.set_output("Out", 0, std::move(fresh));
    held = run.find(run.frame, run.op.output("Out")[0]);
  }
  // The array is modified in place: a copy at each write would make loops quadratic.
  if (held->array.size() <= static_cast<size_t>(i)) held->array.resize(static_cast<size_t>(i) + 1);
  Tensor& place = held->array[static_cast<size_t>(i)];
  if (!place.data || !is_gradient(run.op.output("Out")[0])) {
    place = std::move(element.tensor);
    return;
  }
  Variable sum = tensor_variable(copy_of(place));
  accumulate(sum, element);
  place = std::move(sum.tensor);
}

}  // namespace

void define_write_to_array(OpTable& ops) {
  ops.add(OpSchema("write_to_array")
              .doc("Out[I] = X. The array grows as needed; elements that were not written have no value.")
              .input("X", "a tensor")
              .input("I", "one int32 or int64: the index of the element")
              .output("Out", "a tensor array; its other elements stay unchanged")
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op("read_from_array",
                                                   {{"I", forward.input("I")},
                                                    {"X", gradient_names(forward.output("Out"))},
                                                    {"X_W", forward.input("X")}},
                                                   {{"Out", gradient_names(forward.input("X"))}})};
              })
              .control(&run_write_to_array));
}

}  // namespace paddle_mini

// take_along_axis: Result = the elements of Input along an axis at the positions in Index
#include "core/second_gradient.h"
#include "ops/family/along_axis.h"

namespace paddle_mini {
namespace {

constexpr AlongRule kTakeAlongAxisRule{
    "Input",       "Input@GRAD", "Result",
    "Result@GRAD", true,         [](const OpDesc& op) -> int64_t { return attr_of<int32_t>(op, "Axis"); }};

}  // namespace

void define_take_along_axis(OpTable& ops) {
  ops.add(OpSchema("take_along_axis")
              .doc("Each element of Result is the element of Input at the position in Index along the axis and at its "
                   "own coordinates along the others. Negative positions count from the end; a position out of range "
                   "is an error.")
              .input("Input", "at least one dimension")
              .input("Index", "Input's shape except along the axis, or smaller; int32 or int64")
              .output("Result", "shape of Index")
              .attr("Axis", 0, "the axis; negative ones count from the end")
              .infer(infer_take<kTakeAlongAxisRule>)
              .gradient("take_along_axis_grad", {"Input", "Index", "Result@GRAD"}, {"Input@GRAD"})
              .checks_data("Index")
              .on_gpu()
              .kernels<TakeKernel<kTakeAlongAxisRule>::For, float, double, int32_t, int64_t, uint8_t>());
  ops.add(linear_gradient_of(ops, "take_along_axis")
              .doc("Input@GRAD of an element = the sum of Result@GRAD over the positions in Index that name it.")
              .shape_only("Input")
              .infer(infer_take_grad<kTakeAlongAxisRule>)
              .checks_data("Index")
              .kernels<TakeGradKernel<kTakeAlongAxisRule>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

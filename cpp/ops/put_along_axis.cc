// put_along_axis: Result = Input with Value put at, or combined with, the positions in Index along an axis
#include "ops/family/along_axis.h"

namespace paddle_mini {
namespace {

// Whether the values replace the elements of Input instead of being combined with them.
bool replaces_input(const KernelInit& init) {
  return init.attr<std::string>("Reduce") == "assign" || !init.attr<bool>("Include_self");
}

template <class T>
struct PutKernel : Kernel {
  In<T> input, value;
  Out<T> result;
  AlongAxis along;
  bool add, replaces;
  SegmentedScatter by_element;

  explicit PutKernel(KernelInit& init)
      : input(init, "Input"), value(init, "Value"), result(init, "Result"),
        along(init, input.shape(), init.attr<int32_t>("Axis"), true), add(init.attr<std::string>("Reduce") == "add"),
        replaces(replaces_input(init)), by_element(init, along.index.numel()) {}

  void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override;
};

template <class T>
struct PutGradKernel : Kernel {
  In<T> result_gradient;
  Out<T> input_gradient, value_gradient;
  AlongAxis along;
  bool add, replaces;
  Scratch<int64_t> last;        // on a CPU: for each element, the last value put there, which stays
  SegmentedScatter by_element;  // on a GPU

  explicit PutGradKernel(KernelInit& init)
      : result_gradient(init, "Result@GRAD"), input_gradient(init, "Input@GRAD", optional_port),
        value_gradient(init, "Value@GRAD", optional_port),
        along(init, result_gradient.shape(), init.attr<int32_t>("Axis"), true),
        add(init.attr<std::string>("Reduce") == "add"), replaces(replaces_input(init)),
        last(init, kOnGpu || add || !value_gradient ? 0 : result_gradient.numel()),
        by_element(init, add ? 0 : along.index.numel()) {}

  void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(put_along_axis)

namespace paddle_mini {

void define_put_along_axis(OpTable& ops) {
  ops.add(OpSchema("put_along_axis")
              .doc("Result = Input with the elements of Value written, or added, at the positions in Index along the "
                   "axis; the other coordinates of an element are those in Value. Negative positions count from the "
                   "end; a position out of range is an error.")
              .attr("Axis", 0, "the axis; negative ones count from the end")
              .attr("Reduce", "assign",
                    "assign: the last of several values for one element is written; add: all are added to it",
                    one_of({"assign", "add"}))
              .attr("Include_self", true, "add: whether the sums include the elements of Input")
              .input("Input", "at least one dimension")
              .input("Index", "Input's shape except along the axis, or smaller; int32 or int64")
              .input("Value", "shape of Index")
              .output("Result", "shape of Input")
              .infer([](InferContext& c) {
                require_tensors(c);
                check_index_along(c, c.shape("Input"), c.attr<int32_t>("Axis"));
                require_same_dtype(c, "Input", "Value");
                require<ShapeError>(shapes_agree(c.shape("Index"), c.shape("Value")), "Value has shape ",
                                    c.shape("Value").str(), ", Index has ", c.shape("Index").str());
                c.set_output("Result", c.input("Input"));
              })
              .gradient("put_along_axis_grad", {"Input", "Index", "Value", "Result", "Result@GRAD"},
                        {"Input@GRAD", "Value@GRAD"})
              .in_place("Input", "Result")
              .checks_data()
              .on_gpu()
              .kernels<PutKernel, float, double, int32_t, int64_t, uint8_t>());
  ops.add(ops.gradient_of("put_along_axis")
              .doc("Input@GRAD = Result@GRAD, but 0 where a value replaced an element of Input; Value@GRAD = "
                   "Result@GRAD at the positions of the values, but 0 for a value that another one replaced.")
              .optional_input("Input", "not read: Result@GRAD has its shape")
              .optional_input("Value", "not read: Index has its shape")
              .optional_input("Result", "not read; PaddlePaddle's operator requires it")
              .infer([](InferContext& c) {
                require_tensors(c);
                const VarInfo& result = c.input("Result@GRAD");
                check_index_along(c, result.shape, c.attr<int32_t>("Axis"));
                c.set_output("Input@GRAD", result);
                c.set_output("Value@GRAD", result.dtype, c.shape("Index"));
              })
              .checks_data()
              .shape_only("Result")
              .kernels<PutGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

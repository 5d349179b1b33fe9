// put_along_axis: Result = Input with elements along an axis, at the positions in Index, made of Value
#include "math/along_axis.h"

namespace paddle_mini {
namespace {

#ifdef PM_GPU
template <class T>
struct PutKernel : Kernel {
  using Meet = ByTarget::Meet;
  In<T> input, value;
  Out<T> result;
  AlongAxis along;
  bool add;
  ByTarget by_element;

  explicit PutKernel(KernelInit& init)
      : input(init, "Input"), value(init, "Value"), result(init, "Result"),
        along(init, input.shape(), init.attr<int32_t>("Axis"), true), add(init.attr<std::string>("Reduce") == "add"),
        by_element(init, along.index.numel()) {}

  void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    by_element.sort(device, along.positions(device));
    int64_t n = input.numel();
    if (add) by_element.put<Meet::AddTo>(device, 1, n, 1, input.data(), value.data(), result.data());
    else by_element.put<Meet::Last>(device, 1, n, 1, input.data(), value.data(), result.data());
  }
};

template <class T>
struct PutGradKernel : Kernel {
  In<T> result_gradient;
  Out<T> input_gradient, value_gradient;
  AlongAxis along;
  bool add;

  explicit PutGradKernel(KernelInit& init)
      : result_gradient(init, "Result@GRAD"), input_gradient(init, "Input@GRAD", optional_port),
        value_gradient(init, "Value@GRAD", optional_port),
        along(init, result_gradient.shape(), init.attr<int32_t>("Axis"), true),
        add(init.attr<std::string>("Reduce") == "add") {}

  void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    int64_t n = along.index.numel();
    if (input_gradient) {
      copy_n(device, result_gradient.data(), result_gradient.numel(), input_gradient.data());
      if (!add) zero_slabs(device, along.positions(device), n, 1, input_gradient.data());
    }
    if (!value_gradient) return;
    gather_slabs(device, along.positions(device), 1, n, result_gradient.numel(), sizeof(T), result_gradient.data(),
                 value_gradient.data());
  }
};
#else
template <class T>
struct PutKernel : Kernel {
  In<T> input, value;
  Out<T> result;
  AlongAxis along;
  bool add;

  explicit PutKernel(KernelInit& init)
      : input(init, "Input"), value(init, "Value"), result(init, "Result"),
        along(init, input.shape(), init.attr<int32_t>("Axis"), true), add(init.attr<std::string>("Reduce") == "add") {}

  void run(Device&) override {
    along.check();
    if (result.data() != input.data()) std::copy_n(input.data(), input.numel(), result.data());
    if (add) along.each([this](int64_t i, int64_t at) { result[at] = static_cast<T>(result[at] + value[i]); });
    else along.each([this](int64_t i, int64_t at) { result[at] = value[i]; });
  }
};

template <class T>
struct PutGradKernel : Kernel {
  In<T> result_gradient;
  Out<T> input_gradient, value_gradient;
  AlongAxis along;
  bool add;

  explicit PutGradKernel(KernelInit& init)
      : result_gradient(init, "Result@GRAD"), input_gradient(init, "Input@GRAD", optional_port),
        value_gradient(init, "Value@GRAD", optional_port),
        along(init, result_gradient.shape(), init.attr<int32_t>("Axis"), true),
        add(init.attr<std::string>("Reduce") == "add") {}

  void run(Device&) override {
    along.check();
    if (input_gradient) {
      std::copy_n(result_gradient.data(), result_gradient.numel(), input_gradient.data());
      if (!add) along.each([this](int64_t, int64_t at) { input_gradient[at] = T(0); });
    }
    if (value_gradient) along.each([this](int64_t i, int64_t at) { value_gradient[i] = result_gradient[at]; });
  }
};
#endif

}  // namespace

void define_put_along_axis(OpTable& ops) {
  ops.add(OpSpec("put_along_axis")
              .doc("Result = Input, but each element of Value takes the place of that of Input, or is added to it, at "
                   "the same place but along the axis, where it is at the position in Index. Negative positions count "
                   "from the end; one that Input does not have is refused.")
              .attr("Axis", 0, "the axis; negative ones count from the end")
              .attr("Reduce", "assign",
                    "assign: of several values for one element the last stays; add: they are added to it",
                    one_of({"assign", "add"}))
              .attr("Include_self", true,
                    "whether add begins with Input's elements; PaddlePaddle's gradient asks for it",
                    [](const std::string&, const AttrValue& value) {
                      require<ProgramError>(std::get<bool>(value),
                                            "Include_self is false; values are added to those of Input");
                    })
              .input("Input", "at least one dimension")
              .input("Index", "Input's shape but for the axis, or smaller; int32 or int64")
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
              .doc("Input@GRAD = Result@GRAD, with assign 0 where a value was put; Value@GRAD = Result@GRAD where it "
                   "was put, also for a value that another one replaced, as in PaddlePaddle.")
              .optional_input("Input", "not read: Result@GRAD has its shape")
              .optional_input("Value", "not read: Index has its shape")
              .optional_input("Result", "not read; PaddlePaddle's asks for it")
              .infer([](InferContext& c) {
                require_tensors(c);
                const VarInfo& result = c.input("Result@GRAD");
                check_index_along(c, result.shape, c.attr<int32_t>("Axis"));
                c.set_output("Input@GRAD", result);
                c.set_output("Value@GRAD", result.dtype, c.shape("Index"));
              })
              .checks_data()
              .reads_shape("Result")
              .kernels<PutGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

// put_along_axis: Result = Input with elements along an axis, at the positions in Index, made of Value
#include "math/along_axis.h"

namespace paddle_mini {
namespace {

// Whether nothing is left of the elements of Input where values are put.
bool replaces_input(const KernelInit& init) {
  return init.attr<std::string>("Reduce") == "assign" || !init.attr<bool>("Include_self");
}

#ifdef PM_GPU
template <class T>
struct PutKernel : Kernel {
  using Meet = ByTarget::Meet;
  In<T> input, value;
  Out<T> result;
  AlongAxis along;
  bool add, with_input;
  ByTarget by_element;

  explicit PutKernel(KernelInit& init)
      : input(init, "Input"), value(init, "Value"), result(init, "Result"),
        along(init, input.shape(), init.attr<int32_t>("Axis"), true), add(init.attr<std::string>("Reduce") == "add"),
        with_input(init.attr<bool>("Include_self")), by_element(init, along.index.numel()) {}

  void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    by_element.sort(device, along.positions(device));
    int64_t n = input.numel();
    if (!add) by_element.put<Meet::Last>(device, 1, n, 1, input.data(), value.data(), result.data());
    else if (with_input) by_element.put<Meet::AddTo>(device, 1, n, 1, input.data(), value.data(), result.data());
    else by_element.put<Meet::SumInstead>(device, 1, n, 1, input.data(), value.data(), result.data());
  }
};

// Of the values for one element, which follow each other in the pairs, only the last has a gradient.
template <class T>
struct GradientOfLast {
  const ByTarget::Pair* pairs;
  int64_t count, elements;
  const T* from;
  T* to;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t element = pairs[i].target;
    if (element >= elements) return;  // it is refused
    bool last = i + 1 == count || pairs[i + 1].target != element;
    to[pairs[i].source] = last ? from[element] : T(0);
  }
};

template <class T>
struct PutGradKernel : Kernel {
  In<T> result_gradient;
  Out<T> input_gradient, value_gradient;
  AlongAxis along;
  bool add, replaces;
  ByTarget by_element;

  explicit PutGradKernel(KernelInit& init)
      : result_gradient(init, "Result@GRAD"), input_gradient(init, "Input@GRAD", optional_port),
        value_gradient(init, "Value@GRAD", optional_port),
        along(init, result_gradient.shape(), init.attr<int32_t>("Axis"), true),
        add(init.attr<std::string>("Reduce") == "add"), replaces(replaces_input(init)),
        by_element(init, add ? 0 : along.index.numel()) {}

  void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    int64_t n = along.index.numel();
    if (input_gradient) {
      copy_n(device, result_gradient.data(), result_gradient.numel(), input_gradient.data());
      if (replaces) zero_slabs(device, along.positions(device), n, 1, input_gradient.data());
    }
    if (!value_gradient) return;
    int64_t elements = result_gradient.numel();
    const T* from = result_gradient.data();
    T* to = value_gradient.data();
    if (add) return gather_slabs(device, along.positions(device), 1, n, elements, sizeof(T), from, to);
    by_element.sort(device, along.positions(device));
    for_each_index(device, n, GradientOfLast<T>{by_element.pairs(), n, elements, from, to});
  }
};
#else
template <class T>
struct PutKernel : Kernel {
  In<T> input, value;
  Out<T> result;
  AlongAxis along;
  bool add, replaces;

  explicit PutKernel(KernelInit& init)
      : input(init, "Input"), value(init, "Value"), result(init, "Result"),
        along(init, input.shape(), init.attr<int32_t>("Axis"), true), add(init.attr<std::string>("Reduce") == "add"),
        replaces(replaces_input(init)) {}

  void run(Device&) override {
    along.check();
    if (result.data() != input.data()) std::copy_n(input.data(), input.numel(), result.data());
    if (add && replaces) along.each([this](int64_t, int64_t at) { result[at] = T(0); });
    if (add) along.each([this](int64_t i, int64_t at) { result[at] = static_cast<T>(result[at] + value[i]); });
    else along.each([this](int64_t i, int64_t at) { result[at] = value[i]; });
  }
};

template <class T>
struct PutGradKernel : Kernel {
  In<T> result_gradient;
  Out<T> input_gradient, value_gradient;
  AlongAxis along;
  bool add, replaces;
  Scratch<int64_t> last;  // of the values for an element, the one that stays

  explicit PutGradKernel(KernelInit& init)
      : result_gradient(init, "Result@GRAD"), input_gradient(init, "Input@GRAD", optional_port),
        value_gradient(init, "Value@GRAD", optional_port),
        along(init, result_gradient.shape(), init.attr<int32_t>("Axis"), true),
        add(init.attr<std::string>("Reduce") == "add"), replaces(replaces_input(init)),
        last(init, add || !value_gradient ? 0 : result_gradient.numel()) {}

  void run(Device&) override {
    along.check();
    if (input_gradient) {
      std::copy_n(result_gradient.data(), result_gradient.numel(), input_gradient.data());
      if (replaces) along.each([this](int64_t, int64_t at) { input_gradient[at] = T(0); });
    }
    if (!value_gradient) return;
    if (!add) along.each([this](int64_t i, int64_t at) { last[at] = i; });
    along.each([this](int64_t i, int64_t at) {
      value_gradient[i] = add || last[at] == i ? result_gradient[at] : T(0);
    });
  }
};
#endif

OpSpec put_along_axis_with_attributes(OpSpec spec) {
  return spec.attr("Axis", 0, "the axis; negative ones count from the end")
      .attr("Reduce", "assign", "assign: of several values for one element the last stays; add: they are added to it",
            one_of({"assign", "add"}))
      .attr("Include_self", true, "add: whether the elements of Input are part of the sums");
}

}  // namespace

void define_put_along_axis(OpTable& ops) {
  ops.add(put_along_axis_with_attributes(OpSpec("put_along_axis"))
              .doc("Result = Input, but each element of Value takes the place of that of Input, or is added to it, at "
                   "the same place but along the axis, where it is at the position in Index. Negative positions count "
                   "from the end; one that Input does not have is refused.")
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
  ops.add(put_along_axis_with_attributes(OpSpec("put_along_axis_grad"))
              .doc("Input@GRAD = Result@GRAD, but 0 where a value was put in place of Input's; Value@GRAD = "
                   "Result@GRAD where "
                   "it was put, but 0 for a value that another one replaced.")
              .optional_input("Input", "not read: Result@GRAD has its shape")
              .input("Index", "as in put_along_axis")
              .optional_input("Value", "not read: Index has its shape")
              .optional_input("Result", "not read; PaddlePaddle's asks for it")
              .input("Result@GRAD", "shape of Result")
              .optional_output("Input@GRAD", "shape of Input")
              .optional_output("Value@GRAD", "shape of Value")
              .infer([](InferContext& c) {
                require_tensors(c);
                const VarInfo& result = c.input("Result@GRAD");
                check_index_along(c, result.shape, c.attr<int32_t>("Axis"));
                c.set_output("Input@GRAD", result);
                c.set_output("Value@GRAD", result.dtype, c.shape("Index"));
              })
              .checks_data()
              .reads_shape("Result")
              .on_gpu()
              .kernels<PutGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini

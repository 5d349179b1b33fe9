// The kernels of put_along_axis on a CPU.
#pragma once

namespace paddle_mini {
namespace {

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

  void run(KernelContext&) override {
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
  Scratch<int64_t> last;  // for each element, the last value put there, which stays

  explicit PutGradKernel(KernelInit& init)
      : result_gradient(init, "Result@GRAD"), input_gradient(init, "Input@GRAD", optional_port),
        value_gradient(init, "Value@GRAD", optional_port),
        along(init, result_gradient.shape(), init.attr<int32_t>("Axis"), true),
        add(init.attr<std::string>("Reduce") == "add"), replaces(replaces_input(init)),
        last(init, add || !value_gradient ? 0 : result_gradient.numel()) {}

  void run(KernelContext&) override {
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

}  // namespace
}  // namespace paddle_mini

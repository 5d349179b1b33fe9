// The kernels of put_along_axis on a GPU.
#pragma once

namespace paddle_mini {
namespace {

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
    by_element.sort(device, positions_of(device, along));
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
      if (!add) zero_slabs(device, positions_of(device, along), n, 1, input_gradient.data());
    }
    if (!value_gradient) return;
    gather_slabs(device, positions_of(device, along), 1, n, result_gradient.numel(), sizeof(T), result_gradient.data(),
                 value_gradient.data());
  }
};

}  // namespace
}  // namespace paddle_mini

// CPU kernels of assign_value.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void AssignValueKernel<T>::run(KernelContext&) {
  std::transform(values.begin(), values.end(), out.data(), [](Element value) { return static_cast<T>(value); });
}

}  // namespace
}  // namespace paddle_mini

// The kernels of pow on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T, class... Inputs>
void Factor::map_power(KernelContext& context, int64_t n, T* out, const Inputs*... in) const {
  ScalarArg<double> factor = scalar_or(tensor, static_cast<double>(attr));
  T f = power_factor<T>(factor());
  if (f == T(2)) map(context, n, SquareOf<T>{}, out, in...);
  else map(context, n, PowerOf<T>{f}, out, in...);
}

}  // namespace
}  // namespace paddle_mini

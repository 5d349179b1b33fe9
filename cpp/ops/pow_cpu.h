// The kernels of pow on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T, class... Inputs>
void Factor::map_power(Device& device, int64_t n, T* out, const Inputs*... in) const {
  Uniform<double> factor = uniform_or(tensor, static_cast<double>(attr));
  T f = power_factor<T>(factor());
  if (f == T(2)) map(device, n, SquareOf<T>{}, out, in...);
  else map(device, n, PowerOf<T>{f}, out, in...);
}

}  // namespace
}  // namespace paddle_mini

// The kernels of pow on a GPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
struct AnyPowerOf {
  T factor;
  PM_HD T operator()(T v) const { return factor == T(2) ? SquareOf<T>{}(v) : PowerOf<T>{factor}(v); }
  PM_HD T operator()(T v, T gradient) const {
    return factor == T(2) ? SquareOf<T>{}(v, gradient) : PowerOf<T>{factor}(v, gradient);
  }
  PM_HD T operator()(T v, T gradient, T second) const {
    return factor == T(2) ? SquareOf<T>{}(v, gradient, second) : PowerOf<T>{factor}(v, gradient, second);
  }
};
template <class T>
struct PowerRule {
  ScalarArg<double> factor;
  PM_HD AnyPowerOf<T> bind_scalars() const { return {power_factor<T>(factor())}; }
};

template <class T, class... Inputs>
void Factor::map_power(KernelContext& context, int64_t n, T* out, const Inputs*... in) const {
  ScalarArg<double> factor = scalar_or(tensor, static_cast<double>(attr));
  map(context, n, PowerRule<T>{factor}, out, in...);
}

}  // namespace
}  // namespace paddle_mini

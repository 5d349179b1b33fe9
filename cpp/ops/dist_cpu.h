// CPU kernels of dist.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void DistKernel<T>::run(KernelContext& context) {
  broadcast.map(context, Difference{}, x.data(), y.data(), differences.data());
  double sum = norm.first();
  norm.with_step([&](auto step) {
    for (int64_t i = 0; i < broadcast.numel(); ++i) sum = step(sum, differences[i]);
  });
  out[0] = static_cast<T>(norm.of(sum));
}

template <class T>
void DistGradKernel<T>::run(KernelContext& context) {
  broadcast.map(context, Difference{}, x.data(), y.data(), slopes.data());
  double g = out_gradient[0], length = out[0];
  for (int64_t i = 0; i < broadcast.numel(); ++i) slopes[i] = static_cast<T>(norm.slope(slopes[i], length) * g);
  const T* s = slopes.data();
  if (x_gradient) broadcast.sum_to_x(context, SlopeOfX{}, x.data(), y.data(), s, x_gradient.data());
  if (y_gradient) broadcast.sum_to_y(context, SlopeOfY{}, x.data(), y.data(), s, y_gradient.data());
}

}  // namespace
}  // namespace paddle_mini

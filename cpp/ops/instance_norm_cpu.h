// CPU kernels of instance_norm.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void InstanceNormKernel<T>::run(KernelContext& context) {
  const T *k = scale ? scale.data() : nullptr, *b = bias ? bias.data() : nullptr;
  channels.each_group(context, bytes_cost(4.0 * sizeof(T)), [&](int64_t i) {
    T mean, variance;
    channels.statistics(context, i, x.data(), &mean, &variance);
    T by_deviation = T(1) / std::sqrt(variance + epsilon);
    channels.normalize(context, i, x.data(), mean, by_deviation, k, b, y.data());
    if (saved_mean) saved_mean[i] = mean;
    if (saved_variance) saved_variance[i] = by_deviation;
  });
}

template <class T>
void InstanceNormGradKernel<T>::run(KernelContext& context) {
  T* to[3] = {x_gradient ? x_gradient.data() : nullptr, scale_gradient ? scale_gradient.data() : nullptr,
              bias_gradient ? bias_gradient.data() : nullptr};
  if (scale_gradient) std::fill_n(scale_gradient.data(), scale_gradient.numel(), T(0));
  if (bias_gradient) std::fill_n(bias_gradient.data(), bias_gradient.numel(), T(0));
  auto one = [&](int64_t i) {
    channels.gradients(context, i, x.data(), y_gradient.data(), saved_mean[i], saved_variance[i],
                       scale ? scale.data() : nullptr, to[0], to[1], to[2]);
  };
  const double cost = bytes_cost(8.0 * sizeof(T));
  if (scale_gradient || bias_gradient) channels.each_group_apart(context, cost, one);
  else channels.each_group(context, cost, one);
}

}  // namespace
}  // namespace paddle_mini

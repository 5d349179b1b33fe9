// CPU kernels of instance_norm.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void InstanceNormKernel<T>::run(KernelContext& context) {
  const T *k = scale ? scale.data() : nullptr, *b = bias ? bias.data() : nullptr;
  for (int64_t i = 0; i < channels.group_count(); ++i) {
    T mean, variance;
    channels.statistics(context, i, x.data(), &mean, &variance);
    T by_deviation = T(1) / std::sqrt(variance + epsilon);
    channels.normalize(context, i, x.data(), mean, by_deviation, k, b, y.data());
    if (saved_mean) saved_mean[i] = mean;
    if (saved_variance) saved_variance[i] = by_deviation;
  }
}

template <class T>
void InstanceNormGradKernel<T>::run(KernelContext& context) {
  T* to[3] = {x_gradient ? x_gradient.data() : nullptr, scale_gradient ? scale_gradient.data() : nullptr,
              bias_gradient ? bias_gradient.data() : nullptr};
  if (scale_gradient) std::fill_n(scale_gradient.data(), scale_gradient.numel(), T(0));
  if (bias_gradient) std::fill_n(bias_gradient.data(), bias_gradient.numel(), T(0));
  for (int64_t i = 0; i < channels.group_count(); ++i) {
    channels.gradients(context, i, x.data(), y_gradient.data(), saved_mean[i], saved_variance[i],
                       scale ? scale.data() : nullptr, to[0], to[1], to[2]);
  }
}

}  // namespace
}  // namespace paddle_mini

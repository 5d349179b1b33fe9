// GPU kernels of instance_norm.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void InstanceNormKernel<T>::run(KernelContext& context) {
  const T *k = scale ? scale.data() : nullptr, *b = bias ? bias.data() : nullptr;
  T* means = saved_mean ? saved_mean.data() : own.data();
  T* deviations = saved_variance ? saved_variance.data() : own.data() + channels.group_count();
  channels.statistics(context, x.data(), means, channels.put_deviation(epsilon, deviations));
  channels.normalize(context, x.data(), means, {deviations, T(0), true}, k, b, y.data());
}

template <class T>
void InstanceNormGradKernel<T>::run(KernelContext& context) {
  T* to[3] = {x_gradient ? x_gradient.data() : nullptr, scale_gradient ? scale_gradient.data() : nullptr,
              bias_gradient ? bias_gradient.data() : nullptr};
  channels.gradients(context, x.data(), y_gradient.data(), saved_mean.data(), {saved_variance.data(), T(0), true},
                     scale ? scale.data() : nullptr, to[0], to[1], to[2], sums.data());
}

}  // namespace
}  // namespace paddle_mini

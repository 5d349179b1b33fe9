// GPU kernels of group_norm.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void GroupNormKernel<T>::run(KernelContext& context) {
  const T *k = scale ? scale.data() : nullptr, *b = bias ? bias.data() : nullptr;
  groups.statistics(context, x.data(), mean.data(), groups.put_mean(variance.data()));
  groups.normalize(context, x.data(), mean.data(), {variance.data(), static_cast<T>(epsilon), false}, k, b, y.data());
}

template <class T>
void GroupNormGradKernel<T>::run(KernelContext& context) {
  T* to[3] = {x_gradient ? x_gradient.data() : nullptr, scale_gradient ? scale_gradient.data() : nullptr,
              bias_gradient ? bias_gradient.data() : nullptr};
  groups.gradients(context, x.data(), y_gradient.data(), mean.data(), {variance.data(), static_cast<T>(epsilon), false},
                   scale ? scale.data() : nullptr, to[0], to[1], to[2], sums.data());
}

}  // namespace
}  // namespace paddle_mini

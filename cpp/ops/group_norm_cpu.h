// CPU kernels of group_norm.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void GroupNormKernel<T>::run(KernelContext& context) {
  const T *k = scale ? scale.data() : nullptr, *b = bias ? bias.data() : nullptr;
  groups.each_group(context, bytes_cost(4.0 * sizeof(T)), [&](int64_t i) {
    groups.statistics(context, i, x.data(), &mean[i], &variance[i]);
    groups.normalize(context, i, x.data(), mean[i], one_by_group_deviation(variance[i], epsilon), k, b, y.data());
  });
}

template <class T>
void GroupNormGradKernel<T>::run(KernelContext& context) {
  T* to[3] = {x_gradient ? x_gradient.data() : nullptr, scale_gradient ? scale_gradient.data() : nullptr,
              bias_gradient ? bias_gradient.data() : nullptr};
  if (scale_gradient) std::fill_n(scale_gradient.data(), scale_gradient.numel(), T(0));
  if (bias_gradient) std::fill_n(bias_gradient.data(), bias_gradient.numel(), T(0));
  auto one = [&](int64_t i) {
    groups.gradients(context, i, x.data(), y_gradient.data(), mean[i], one_by_group_deviation(variance[i], epsilon),
                     scale ? scale.data() : nullptr, to[0], to[1], to[2]);
  };
  const double cost = bytes_cost(8.0 * sizeof(T));
  if (scale_gradient || bias_gradient) groups.each_group_apart(context, cost, one);
  else groups.each_group(context, cost, one);
}

}  // namespace
}  // namespace paddle_mini

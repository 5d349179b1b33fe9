// CPU kernels of cross_entropy.
#pragma once

#include "math/copy.h"

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void HardKernel<T>::run(KernelContext& context) {
  check_class_labels(label, classes, ignored);
  each_item(context, {label.numel(), kLabelCost}, [&](int64_t i) {
    y[i] = label[i] == ignored ? T(0) : -finite_cross_entropy_log(x[i * classes + label[i]]);
  });
}

template <class T>
void SoftKernel<T>::run(KernelContext& context) {
  auto part = [](auto v, auto w) { return w * finite_cross_entropy_log(v); };
  each_long_item(context, {rows, static_cast<double>(classes)}, [&](int64_t i) {
    y[i] = -static_cast<T>(map_sum(context, classes, part, x.data() + i * classes, label.data() + i * classes));
  });
}

template <class T>
void HardGradKernel<T>::run(KernelContext& context) {
  check_class_labels(label, classes, ignored);
  fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
  each_item(context, {label.numel(), kLabelCost}, [&](int64_t i) {
    int64_t at = i * classes + label[i];
    if (label[i] != ignored) x_gradient[at] = -y_gradient[i] / x[at];
  });
}

template <class T>
void SoftGradKernel<T>::run(KernelContext& context) {
  each_long_item(context, {rows, bytes_cost(3.0 * sizeof(T)) * static_cast<double>(classes)}, [&](int64_t i) {
    int64_t at = i * classes;
    auto pass = [g = y_gradient[i]](auto v, auto w) { return -(decltype(v)(g) * w / v); };
    map(context, classes, pass, x_gradient.data() + at, x.data() + at, label.data() + at);
  });
}

}  // namespace
}  // namespace paddle_mini

// CPU kernels of cross_entropy.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void HardKernel<T>::run(KernelContext&) {
  check_class_labels(label, classes, ignored);
  for (int64_t i = 0, n = label.numel(); i < n; ++i) {
    y[i] = label[i] == ignored ? T(0) : -finite_cross_entropy_log(x[i * classes + label[i]]);
  }
}

template <class T>
void SoftKernel<T>::run(KernelContext& context) {
  auto part = [](auto v, auto w) { return w * finite_cross_entropy_log(v); };
  for (int64_t i = 0; i < rows; ++i) {
    y[i] = -static_cast<T>(map_sum(context, classes, part, x.data() + i * classes, label.data() + i * classes));
  }
}

template <class T>
void HardGradKernel<T>::run(KernelContext&) {
  check_class_labels(label, classes, ignored);
  std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
  for (int64_t i = 0, n = label.numel(); i < n; ++i) {
    int64_t at = i * classes + label[i];
    if (label[i] != ignored) x_gradient[at] = -y_gradient[i] / x[at];
  }
}

template <class T>
void SoftGradKernel<T>::run(KernelContext& context) {
  for (int64_t i = 0; i < rows; ++i) {
    int64_t at = i * classes;
    auto pass = [g = y_gradient[i]](auto v, auto w) { return -(decltype(v)(g) * w / v); };
    map(context, classes, pass, x_gradient.data() + at, x.data() + at, label.data() + at);
  }
}

}  // namespace
}  // namespace paddle_mini

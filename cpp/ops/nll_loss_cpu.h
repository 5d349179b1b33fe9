// The kernels of nll_loss on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void NllLossRows<T>::check() const {
  check_class_labels(label, classes, ignored);
}

template <class T>
bool NllLossRows<T>::counts(int64_t i) const {
  return label[i] != ignored;
}

template <class T>
int64_t NllLossRows<T>::at(int64_t i) const {
  return (i / inner * classes + label[i]) * inner + i % inner;
}

template <class T>
T NllLossRows<T>::weight_of(int64_t i) const {
  return weight ? weight[label[i]] : T(1);
}

template <class T>
void NllLossKernel<T>::run(KernelContext&) {
  rows.check();
  int64_t n = rows.label.numel();
  total_weight[0] = T(0);
  if (reduction == "none") {
    for (int64_t i = 0; i < n; ++i) out[i] = rows.counts(i) ? -x[rows.at(i)] * rows.weight_of(i) : T(0);
    return;
  }
  double loss = 0, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!rows.counts(i)) continue;
    T weight = rows.weight_of(i);
    loss -= static_cast<double>(x[rows.at(i)] * weight);
    total += static_cast<double>(weight);
  }
  out[0] = static_cast<T>(reduction == "mean" && total != 0 ? loss / total : loss);
  total_weight[0] = static_cast<T>(total);
}

template <class T>
void NllLossGradKernel<T>::run(KernelContext&) {
  rows.check();
  std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
  bool each = reduction == "none";
  T divisor = reduction == "mean" && total_weight[0] != T(0) ? total_weight[0] : T(1);
  for (int64_t i = 0, n = rows.label.numel(); i < n; ++i) {
    if (!rows.counts(i)) continue;
    x_gradient[rows.at(i)] = -rows.weight_of(i) * out_gradient[each ? i : 0] / divisor;
  }
}

}  // namespace
}  // namespace paddle_mini

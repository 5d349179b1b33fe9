// The kernels of nll_loss on a CPU.
#pragma once

#include "math/copy.h"

#include "math/cpu/each_item.h"

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
void NllLossKernel<T>::run(KernelContext& context) {
  rows.check();
  int64_t n = rows.label.numel();
  total_weight[0] = T(0);
  if (reduction == "none") {
    return each_item(context, {n, kLabelCost},
                     [&](int64_t i) { out[i] = rows.counts(i) ? -x[rows.at(i)] * rows.weight_of(i) : T(0); });
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
void NllLossGradKernel<T>::run(KernelContext& context) {
  rows.check();
  fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
  bool each = reduction == "none";
  T divisor = reduction == "mean" && total_weight[0] != T(0) ? total_weight[0] : T(1);
  each_item(context, {rows.label.numel(), kLabelCost}, [&](int64_t i) {
    if (rows.counts(i)) x_gradient[rows.at(i)] = -rows.weight_of(i) * out_gradient[each ? i : 0] / divisor;
  });
}

}  // namespace
}  // namespace paddle_mini

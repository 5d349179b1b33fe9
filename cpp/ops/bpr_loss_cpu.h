// CPU kernels of bpr_loss.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

constexpr double kBprCost = 10;  // nanoseconds for one class: exp and log

void check_bpr_labels(const IndexIn& label, int64_t rows, int64_t classes) {
  for (int64_t i = 0; i < rows; ++i) {
    if (label[i] < 0 || label[i] >= classes) refuse_bpr_label(label[i], i, classes);
  }
}

// As in PaddlePaddle, a loss is 10^20 if exp overflows.
template <class T>
void BprLossKernel<T>::run(KernelContext& context) {
  check_bpr_labels(label, rows, classes);
  each_item(context, {rows, kBprCost * static_cast<double>(classes)}, [&](int64_t i) {
    const T* row = x.data() + i * classes;
    T sum = 0;
    for (int64_t j = 0; j < classes; ++j) {
      if (j == label[i]) continue;
      T loss = std::log(T(1) + std::exp(row[j] - row[label[i]]));
      sum += std::isinf(loss) ? T(1e20) : loss;
    }
    y[i] = sum / static_cast<T>(classes - 1);
  });
}

template <class T>
void BprLossGradKernel<T>::run(KernelContext& context) {
  check_bpr_labels(label, rows, classes);
  each_item(context, {rows, kBprCost * static_cast<double>(classes)}, [&](int64_t i) {
    const T* row = x.data() + i * classes;
    T* to = x_gradient.data() + i * classes;
    T sum = 0;
    for (int64_t j = 0; j < classes; ++j) {
      if (j == label[i]) continue;
      to[j] = y_gradient[i] / (static_cast<T>(classes - 1) * (T(1) + std::exp(row[label[i]] - row[j])));
      sum += to[j];
    }
    to[label[i]] = -sum;
  });
}

}  // namespace
}  // namespace paddle_mini

// CPU kernels of bpr_loss.
#pragma once

namespace paddle_mini {
namespace {

void check_bpr_labels(const IndexIn& label, int64_t rows, int64_t classes) {
  for (int64_t i = 0; i < rows; ++i) {
    if (label[i] < 0 || label[i] >= classes) refuse_bpr_label(label[i], i, classes);
  }
}

// As in PaddlePaddle, a loss is 10^20 if exp overflows.
template <class T>
void BprLossKernel<T>::run(KernelContext&) {
  check_bpr_labels(label, rows, classes);
  for (int64_t i = 0; i < rows; ++i) {
    const T* row = x.data() + i * classes;
    T sum = 0;
    for (int64_t j = 0; j < classes; ++j) {
      if (j == label[i]) continue;
      T loss = std::log(T(1) + std::exp(row[j] - row[label[i]]));
      sum += std::isinf(loss) ? T(1e20) : loss;
    }
    y[i] = sum / static_cast<T>(classes - 1);
  }
}

template <class T>
void BprLossGradKernel<T>::run(KernelContext&) {
  check_bpr_labels(label, rows, classes);
  for (int64_t i = 0; i < rows; ++i) {
    const T* row = x.data() + i * classes;
    T* to = x_gradient.data() + i * classes;
    T sum = 0;
    for (int64_t j = 0; j < classes; ++j) {
      if (j == label[i]) continue;
      to[j] = y_gradient[i] / (static_cast<T>(classes - 1) * (T(1) + std::exp(row[label[i]] - row[j])));
      sum += to[j];
    }
    to[label[i]] = -sum;
  }
}

}  // namespace
}  // namespace paddle_mini

// GPU kernels of bpr_loss.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/ids.h"
#include "math/number.h"

namespace paddle_mini {
namespace {

// Computes the loss of one row of X.
template <class T>
struct BprLoss {
  IdsBelow labels;
  int64_t classes;
  const T* x;
  T* y;

  PM_DEVICE void operator()(int64_t row) const {
    int64_t label = labels[row];
    T sum = 0;
    for (int64_t j = 0; j < classes && label >= 0; ++j) {
      if (j == label) continue;
      T loss = log(T(1) + exp(x[row * classes + j] - x[row * classes + label]));
      sum += std::isinf(loss) ? T(1e20) : loss;
    }
    y[row] = sum / static_cast<T>(classes - 1);
  }
};

template <class T>
struct BprSlope {
  IdsBelow labels;
  int64_t classes;
  const T *x, *gradient;
  T* to;

  PM_DEVICE void operator()(int64_t row) const {
    int64_t label = labels[row], first = row * classes;
    if (label < 0) return;
    T sum = 0;
    for (int64_t j = 0; j < classes; ++j) {
      if (j == label) continue;
      T slope = gradient[row] / (static_cast<T>(classes - 1) * (T(1) + exp(x[first + label] - x[first + j])));
      to[first + j] = slope;
      sum += slope;
    }
    to[first + label] = -sum;
  }
};

template <class T>
void BprLossKernel<T>::run(KernelContext& context) {
  for_each_index(context, rows, BprLoss<T>{{context, label, classes}, classes, x.data(), y.data()});
}

template <class T>
void BprLossGradKernel<T>::run(KernelContext& context) {
  BprSlope<T> body{{context, label, classes}, classes, x.data(), y_gradient.data(), x_gradient.data()};
  for_each_index(context, rows, body);
}

}  // namespace
}  // namespace paddle_mini

// GPU kernels of cvm.
#pragma once

#include "math/for_each_index.h"
#include "math/number.h"

namespace paddle_mini {
namespace {

template <class T>
struct Cvm {
  bool use_cvm;
  int64_t width;  // columns of X
  const T* x;
  T* y;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t dropped = use_cvm ? 0 : kCounts, row = i / (width - dropped), column = i % (width - dropped) + dropped;
    const T* from = x + row * width;
    T shows = log(from[0] + T(1));
    y[i] = column == 0 ? shows : column == 1 ? log(from[1] + T(1)) - shows : from[column];
  }
};

template <class T>
struct CvmSlope {
  bool use_cvm;
  int64_t width;  // columns of X
  const T *counts, *gradient;
  T* to;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t dropped = use_cvm ? 0 : kCounts, row = i / width, column = i % width;
    to[i] = column < kCounts ? counts[row * kCounts + column] : gradient[row * (width - dropped) + column - dropped];
  }
};

template <class T>
void CvmKernel<T>::run(KernelContext& context) {
  for_each_index(context, y.numel(), Cvm<T>{use_cvm, width, x.data(), y.data()});
}

template <class T>
void CvmGradKernel<T>::run(KernelContext& context) {
  CvmSlope<T> body{use_cvm, x_gradient.shape()[1], counts.data(), y_gradient.data(), x_gradient.data()};
  for_each_index(context, x_gradient.numel(), body);
}

}  // namespace
}  // namespace paddle_mini

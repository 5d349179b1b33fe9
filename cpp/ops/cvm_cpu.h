// CPU kernels of cvm.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void CvmKernel<T>::run(KernelContext&) {
  T* to = y.data();
  for (int64_t i = 0; i < rows; ++i) {
    const T* row = x.data() + i * width;
    if (use_cvm) {
      T shows = std::log(row[0] + T(1));
      *to++ = shows;
      *to++ = std::log(row[1] + T(1)) - shows;
    }
    to = std::copy(row + kCounts, row + width, to);
  }
}

template <class T>
void CvmGradKernel<T>::run(KernelContext&) {
  int64_t rows = x_gradient.shape()[0], width = x_gradient.shape()[1];
  const T* from = y_gradient.data();
  for (int64_t i = 0; i < rows; ++i) {
    if (use_cvm) from += kCounts;
    T* to = std::copy_n(counts.data() + i * kCounts, kCounts, x_gradient.data() + i * width);
    std::copy_n(from, width - kCounts, to);
    from += width - kCounts;
  }
}

}  // namespace
}  // namespace paddle_mini

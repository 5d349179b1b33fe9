// The kernels of tril_triu on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/unravel_last.h"

namespace paddle_mini {
namespace {

template <class T>
struct Triangle {
  const T* in;
  T* out;
  int64_t rows, columns, diagonal;
  bool lower;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, column = unravel_last(left, columns), beyond = column - unravel_last(left, rows) - diagonal;
    out[i] = (lower ? beyond <= 0 : beyond >= 0) ? in[i] : T(0);
  }
};

template <bool backward>
template <class T>
void TrilTriuKernel<backward>::For<T>::run(KernelContext& context) {
  for_each_index(context, in.numel(), Triangle<T>{in.data(), out.data(), rows, columns, diagonal, lower});
}

}  // namespace
}  // namespace paddle_mini

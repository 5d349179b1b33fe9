// GPU kernels of equal_all.
#pragma once

#include "math/copy.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

// All threads that find a difference write the same value.
template <class T>
struct FlagUnequal {
  const T *x, *y;
  bool* equal;
  PM_HD void operator()(int64_t i) const {
    if (equal_or_not(x[i], y[i]) == T(0)) *equal = false;
  }
};

template <class T>
void EqualAllKernel<T>::run(KernelContext& context) {
  bool alike = x.shape() == y.shape();
  fill_n(context, out.data(), 1, alike);
  if (alike) for_each_index(context, x.numel(), FlagUnequal<T>{x.data(), y.data(), out.data()});
}

}  // namespace
}  // namespace paddle_mini

// GPU kernels of allclose.
#pragma once

#include "math/copy.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

// All threads that find different numbers write the same value.
template <class T>
struct FlagApart {
  ScalarArg<double> rtol, atol;
  bool equal_nan;
  const T *input, *other;
  bool* close;
  PM_HD void operator()(int64_t i) const {
    if (!IsClose<T>{rtol(), atol(), equal_nan}(input[i], other[i])) *close = false;
  }
};

template <class T>
void AllcloseKernel<T>::run(KernelContext& context) {
  fill_n(context, out.data(), 1, true);
  for_each_index(context, input.numel(),
                 FlagApart<T>{scalar_or(rtol_in, rtol), scalar_or(atol_in, atol), equal_nan, input.data(), other.data(),
                              out.data()});
}

}  // namespace
}  // namespace paddle_mini

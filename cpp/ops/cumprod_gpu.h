// GPU kernels of cumprod.
#pragma once

#include "math/gpu/scan.h"

namespace paddle_mini {
namespace {

template <class T>
struct FactorAt {
  const T* x;
  PM_DEVICE T operator()(int64_t at) const { return x[at]; }
};
template <class T>
struct ProductTo {
  T* out;
  PM_DEVICE void operator()(int64_t at, T product) const { out[at] = product; }
};

template <class T>
void CumprodKernel<T>::run(KernelContext& context) {
  scan(context, lines, false, false, T(1), FactorAt<T>{x.data()}, WrappingTimes{}, ProductTo<T>{out.data()});
}

}  // namespace
}  // namespace paddle_mini

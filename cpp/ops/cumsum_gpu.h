// GPU kernels of cumsum.
#pragma once

#include "math/gpu/fold.h"
#include "math/gpu/scan.h"

namespace paddle_mini {
namespace {

template <class T>
struct WideElement {
  const T* in;
  PM_DEVICE SumOf<T> operator()(int64_t at) const { return in[at]; }
};
template <class T>
struct NarrowTo {
  T* out;
  PM_DEVICE void operator()(int64_t at, SumOf<T> sum) const { out[at] = static_cast<T>(sum); }
};

template <class T>
void RunningSum<T>::run(KernelContext& context) {
  scan(context, lines_, reverse_, exclusive_, SumOf<T>(0), WideElement<T>{in_.data()}, Plus{},
       NarrowTo<T>{out_.data()});
}

}  // namespace
}  // namespace paddle_mini

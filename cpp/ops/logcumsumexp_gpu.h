// GPU kernels of logcumsumexp.
#pragma once

#include "math/gpu/scan.h"

namespace paddle_mini {
namespace {

struct JoinSums {
  PM_DEVICE ScaledSum operator()(ScaledSum a, ScaledSum b) const {
    a.add(b.total, b.largest);
    return a;
  }
};

template <class T>
struct OneExp {
  const T* x;
  PM_DEVICE ScaledSum operator()(int64_t at) const {
    ScaledSum sum = ScaledSum::nothing();
    sum.add(1, x[at]);
    return sum;
  }
};
template <class T>
struct PutLog {
  T* out;
  bool exclusive;
  PM_DEVICE void operator()(int64_t at, const ScaledSum& sum) const {
    bool nothing = exclusive && sum.total == 0;
    out[at] = nothing ? kNothing<T> : static_cast<T>(sum.largest + std::log(sum.total));
  }
};

template <class T>
struct OneSlope {
  const T *out, *out_gradient;
  PM_DEVICE ScaledSum operator()(int64_t at) const {
    ScaledSum sum = ScaledSum::nothing();
    if (!std::isinf(out[at]) && out[at] != kNothing<T>) sum.add(out_gradient[at], -static_cast<double>(out[at]));
    return sum;
  }
};
template <class T>
struct PutSlope {
  const T* x;
  T* x_gradient;
  PM_DEVICE void operator()(int64_t at, const ScaledSum& sum) const { x_gradient[at] = times_exp<T>(sum, x[at]); }
};

template <class T>
void LogcumsumexpKernel<T>::run(KernelContext& context) {
  scan(context, index_map.lines, index_map.reverse, index_map.exclusive, ScaledSum::nothing(), OneExp<T>{x.data()},
       JoinSums{}, PutLog<T>{out.data(), index_map.exclusive});
}

template <class T>
void LogcumsumexpGradKernel<T>::run(KernelContext& context) {
  scan(context, index_map.lines, !index_map.reverse, index_map.exclusive, ScaledSum::nothing(),
       OneSlope<T>{out.data(), out_gradient.data()}, JoinSums{}, PutSlope<T>{x.data(), x_gradient.data()});
}

}  // namespace
}  // namespace paddle_mini

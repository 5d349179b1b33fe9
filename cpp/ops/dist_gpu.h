// GPU kernels of dist.
#pragma once

#include "math/gpu/fold.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

template <class T>
struct DistTerm {
  PNorm norm;
  const T* difference;
  PM_DEVICE double operator()(const int64_t (&at)[1]) const { return norm.term(difference[at[0]]); }
};
struct DistJoin {
  PNorm norm;
  PM_DEVICE double operator()(double a, double b) const { return norm.join(a, b); }
};
template <class T>
struct PutDist {
  PNorm norm;
  T* out;
  PM_DEVICE void operator()(int64_t, double sum) const { *out = static_cast<T>(norm.of(sum)); }
};

template <class T>
struct DistSlope {
  PNorm norm;
  const T *out, *gradient;
  T* slope;  // contains the difference on entry
  PM_DEVICE void operator()(int64_t i) const {
    slope[i] = static_cast<T>(norm.slope(slope[i], *out) * static_cast<double>(*gradient));
  }
};

template <class T>
void DistKernel<T>::run(KernelContext& context) {
  broadcast.map(context, Difference{}, x.data(), y.data(), differences.data());
  StridedIndex<1> one, all;
  all.add(broadcast.numel(), {1});
  fold(context, one, all, norm.first(), DistTerm<T>{norm, differences.data()}, DistJoin{norm},
       PutDist<T>{norm, out.data()});
}

template <class T>
void DistGradKernel<T>::run(KernelContext& context) {
  broadcast.map(context, Difference{}, x.data(), y.data(), slopes.data());
  for_each_index(context, broadcast.numel(), DistSlope<T>{norm, out.data(), out_gradient.data(), slopes.data()});
  const T* s = slopes.data();
  if (x_gradient) broadcast.sum_to_x(context, SlopeOfX{}, x.data(), y.data(), s, x_gradient.data());
  if (y_gradient) broadcast.sum_to_y(context, SlopeOfY{}, x.data(), y.data(), s, y_gradient.data());
}

}  // namespace
}  // namespace paddle_mini

// GPU kernels of kldiv_loss.
#pragma once

#include "math/gpu/fold.h"

namespace paddle_mini {
namespace {

template <class T>
struct DivergenceTerm {
  const T *x, *target;
  PM_DEVICE T operator()(const int64_t (&at)[1]) const { return Divergence{}(x[at[0]], target[at[0]]); }
};
template <class T>
struct PutDivergence {
  T factor;
  T* loss;
  PM_DEVICE void operator()(int64_t, double sum) const { *loss = static_cast<T>(sum) * factor; }
};

template <class T>
void KldivLossKernel<T>::sum(KernelContext& context) {
  StridedIndex<1> one, all;
  all.add(x.numel(), {1});
  fold(context, one, all, 0.0, DivergenceTerm<T>{x.data(), target.data()}, Plus{},
       PutDivergence<T>{factor, loss.data()});
}

}  // namespace
}  // namespace paddle_mini

// The kernels of sigmoid_cross_entropy_with_logits on a GPU.
#pragma once

#include "math/gpu/fold.h"

namespace paddle_mini {
namespace {

template <class T>
struct CountsLabel {
  Ignored<T> ignored;
  const T* label;
  PM_DEVICE int64_t operator()(const int64_t (&at)[1]) const { return ignored.counts(label[at[0]]) ? 1 : 0; }
};
template <class T>
struct PutOneByCount {
  T* to;
  PM_DEVICE void operator()(int64_t, int64_t count) const { *to = one_by<T>(count); }
};

template <class T>
ScalarArg<T> Scale<T>::of(KernelContext& context, const Ignored<T>& ignored, const In<T>& label) const {
  if (!normalize_) return T(1);
  StridedIndex<1> one, all;
  all.add(label.numel(), {1});
  fold(context, one, all, int64_t{0}, CountsLabel<T>{ignored, label.data()}, Plus{}, PutOneByCount<T>{on_gpu_.data()});
  return on_gpu_;
}

}  // namespace
}  // namespace paddle_mini

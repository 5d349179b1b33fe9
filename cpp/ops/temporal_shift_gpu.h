// The kernels of temporal_shift on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/unravel_last.h"

namespace paddle_mini {
namespace {

template <class T>
struct ShiftedElement {
  Shift s;
  const T* from;
  T* to;
  int64_t direction;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, frame = s.blocks * s.channels * s.length;
    unravel_last(left, s.length);
    int64_t channel = unravel_last(left, s.channels);
    int64_t shift = channel < s.back ? -direction : channel < s.ahead ? direction : 0;
    int64_t time = left / s.blocks % s.segment + shift;
    to[i] = time >= 0 && time < s.segment ? from[i + shift * frame] : T(0);
  }
};

template <class T>
void Shift::copy(KernelContext& context, const T* from, T* to, int64_t direction) const {
  for_each_index(context, frames * blocks * channels * length, ShiftedElement<T>{*this, from, to, direction});
}

}  // namespace
}  // namespace paddle_mini

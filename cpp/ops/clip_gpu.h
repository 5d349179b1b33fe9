// GPU kernels of clip.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/report_fault.h"

namespace paddle_mini {
namespace {

// Reports both bounds, as bits, if the lower one exceeds the upper one.
template <class T>
struct CheckBounds {
  ScalarArg<T> low, high;
  Fault* fault;
  unsigned long long step;

  PM_DEVICE void operator()(int64_t) const {
    T numbers[2] = {low(), high()};
    if (!(numbers[0] > numbers[1])) return;
    int64_t bits[2] = {};
    for (int i = 0; i < 2; ++i) memcpy(&bits[i], &numbers[i], sizeof(T));
    report_fault(fault, step, bits[0], bits[1]);
  }
};

template <class T>
void Bounds<T>::check(KernelContext& context) const {
  if (!may_fail_validation()) return;
  for_each_index(context, 1, CheckBounds<T>{scalar_or(min, low), scalar_or(max, high), context.fault, context.step});
}

}  // namespace
}  // namespace paddle_mini

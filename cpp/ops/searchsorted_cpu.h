// The kernels of searchsorted on a CPU.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void SearchsortedKernel<T>::run(KernelContext& context) {
  constexpr double kCost = 50;  // nanoseconds for one binary search
  each_item(context, {values.numel(), kCost}, [&](int64_t i) {
    const T* sequence = sequences.data() + i / width * length;
    int64_t at = place(sequence, values[i]);
    if (out.tensor.dtype == DType::Int32) static_cast<int32_t*>(out.tensor.data)[i] = static_cast<int32_t>(at);
    else static_cast<int64_t*>(out.tensor.data)[i] = at;
  });
}

// NaN and infinity are placed at the end, as in PaddlePaddle.
template <class T>
int64_t SearchsortedKernel<T>::place(const T* sequence, T value) const {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return length;
  }
  const T* end = sequence + length;
  return (right ? std::upper_bound(sequence, end, value) : std::lower_bound(sequence, end, value)) - sequence;
}

}  // namespace
}  // namespace paddle_mini

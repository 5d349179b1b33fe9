// The kernels of searchsorted on a GPU.
#pragma once

#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

template <class T>
struct SortedPlace {
  const T *sequences, *values;
  void* out;
  int64_t length, width;
  bool right, wide;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t at = place(sequences + i / width * length, values[i]);
    if (wide) static_cast<int64_t*>(out)[i] = at;
    else static_cast<int32_t*>(out)[i] = static_cast<int32_t>(at);
  }
  // NaN and infinity are placed at the end, as in PaddlePaddle.
  PM_DEVICE int64_t place(const T* sequence, T value) const {
    if (!(value - value == T(0))) return length;
    int64_t low = 0, high = length;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      bool before = right ? !(value < sequence[middle]) : sequence[middle] < value;
      if (before) low = middle + 1;
      else high = middle;
    }
    return low;
  }
};

template <class T>
void SearchsortedKernel<T>::run(KernelContext& context) {
  bool wide = out.tensor.dtype != DType::Int32;
  for_each_index(context, values.numel(),
                 SortedPlace<T>{sequences.data(), values.data(), out.tensor.data, length, width, right, wide});
}

}  // namespace
}  // namespace paddle_mini

// Kernels of arg_extreme on a CPU.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {

template <class Better>
template <class T>
void ArgExtremeKernel<Better>::For<T>::run(KernelContext& context) {
  each_item(context, {lines.count(), static_cast<double>(lines.length)}, [&](int64_t at) {
    const T* line = x.data() + lines.begin_of(at);
    int64_t best = 0;
    for (int64_t j = 1; j < lines.length && line[best * lines.inner] == line[best * lines.inner]; ++j) {
      T a = line[j * lines.inner], b = line[best * lines.inner];
      if (a != a || Better{}(a, b)) best = j;
    }
    if (out.tensor.dtype == DType::Int32) static_cast<int32_t*>(out.tensor.data)[at] = static_cast<int32_t>(best);
    else static_cast<int64_t*>(out.tensor.data)[at] = best;
  });
}

}  // namespace paddle_mini

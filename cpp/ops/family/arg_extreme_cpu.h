// Kernels of arg_extreme on a CPU.
#pragma once

namespace paddle_mini {

template <class Better>
template <class T>
void ArgExtremeKernel<Better>::For<T>::run(KernelContext&) {
  int64_t at = 0;
  lines.each([&](int64_t begin) {
    const T* line = x.data() + begin;
    int64_t best = 0;
    for (int64_t j = 1; j < lines.length && line[best * lines.inner] == line[best * lines.inner]; ++j) {
      T a = line[j * lines.inner], b = line[best * lines.inner];
      if (a != a || Better{}(a, b)) best = j;
    }
    if (out.tensor.dtype == DType::Int32) static_cast<int32_t*>(out.tensor.data)[at++] = static_cast<int32_t>(best);
    else static_cast<int64_t*>(out.tensor.data)[at++] = best;
  });
}

}  // namespace paddle_mini

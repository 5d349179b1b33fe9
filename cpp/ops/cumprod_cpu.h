// CPU kernels of cumprod.
#pragma once

#include "math/cpu/axis_lines.h"

namespace paddle_mini {
namespace {

template <class T>
void CumprodKernel<T>::run(KernelContext& context) {
  each_line(context, lines, 1, [&](int64_t begin) {
    T product(1);
    for (int64_t j = 0; j < lines.length; ++j) {
      int64_t at = begin + j * lines.inner;
      product = WrappingTimes{}(product, x[at]);
      out[at] = product;
    }
  });
}

}  // namespace
}  // namespace paddle_mini

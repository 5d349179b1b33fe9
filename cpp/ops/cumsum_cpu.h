// CPU kernels of cumsum.
#pragma once

#include "math/cpu/axis_lines.h"

namespace paddle_mini {
namespace {

template <class T>
void RunningSum<T>::run(KernelContext& context) {
  each_line(context, lines_, 1, [&](int64_t begin) {
    T total = 0;
    for (int64_t j = 0; j < lines_.length; ++j) {
      int64_t at = begin + (reverse_ ? lines_.length - 1 - j : j) * lines_.inner;
      T one = in_[at], before = total;
      total = static_cast<T>(total + one);
      out_[at] = exclusive_ ? before : total;
    }
  });
}

}  // namespace
}  // namespace paddle_mini

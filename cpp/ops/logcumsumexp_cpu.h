// CPU kernels of logcumsumexp.
#pragma once

#include "math/cpu/axis_lines.h"

namespace paddle_mini {
namespace {

constexpr double kLogcumsumexpCost = 20;  // nanoseconds for exp and log of one element

template <class T>
void LogcumsumexpKernel<T>::run(KernelContext& context) {
  each_line(context, index_map.lines, kLogcumsumexpCost, [&](int64_t begin) {
    ScaledSum sum = ScaledSum::nothing();
    for (int64_t j = 0; j < index_map.lines.length; ++j) {
      int64_t at = index_map.at(begin, j);
      double one = x[at];
      if (index_map.exclusive)
        out[at] = sum.total == 0 ? kNothing<T> : static_cast<T>(sum.largest + std::log(sum.total));
      sum.add(1, one);
      if (!index_map.exclusive) out[at] = static_cast<T>(sum.largest + std::log(sum.total));
    }
  });
}

template <class T>
void LogcumsumexpGradKernel<T>::run(KernelContext& context) {
  each_line(context, index_map.lines, kLogcumsumexpCost, [&](int64_t begin) {
    ScaledSum sum = ScaledSum::nothing();
    for (int64_t j = index_map.lines.length - 1; j >= 0; --j) {
      int64_t at = index_map.at(begin, j);
      if (index_map.exclusive) x_gradient[at] = times_exp<T>(sum, x[at]);
      if (!std::isinf(out[at]) && out[at] != kNothing<T>) sum.add(out_gradient[at], -static_cast<double>(out[at]));
      if (!index_map.exclusive) x_gradient[at] = times_exp<T>(sum, x[at]);
    }
  });
}

}  // namespace
}  // namespace paddle_mini

// CPU kernels of lrn.
#pragma once

#include "math/cpu/axis_lines.h"

namespace paddle_mini {
namespace {

constexpr double kLrnCost = 20;  // nanoseconds for the power of one element

template <class T>
void LrnKernel<T>::run(KernelContext& context) {
  each_line(context, near.lines, kLrnCost, [&](int64_t begin) {
    for (int64_t c = 0; c < near.lines.length; ++c) {
      int64_t at = begin + c * near.lines.inner;
      T middle = near.k + near.alpha * near.sum(begin, c, [&](int64_t i) { return x[i] * x[i]; });
      mid_out[at] = middle;
      out[at] = x[at] * std::pow(middle, -near.beta);
    }
  });
}

template <class T>
void LrnGradKernel<T>::run(KernelContext& context) {
  T factor = 2 * near.alpha * near.beta;
  each_line(context, near.lines, kLrnCost, [&](int64_t begin) {
    for (int64_t c = 0; c < near.lines.length; ++c) {
      int64_t at = begin + c * near.lines.inner;
      T through = near.sum(begin, c, [&](int64_t i) { return out_gradient[i] * out[i] / mid_out[i]; });
      x_gradient[at] = out_gradient[at] * std::pow(mid_out[at], -near.beta) - factor * x[at] * through;
    }
  });
}

}  // namespace
}  // namespace paddle_mini

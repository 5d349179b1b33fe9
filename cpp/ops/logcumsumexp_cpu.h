// The kernels of logcumsumexp on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void LogcumsumexpKernel<T>::run(Device&) {
  walk.lines.each([&](int64_t begin) {
    ScaledSum sum = ScaledSum::nothing();
    for (int64_t j = 0; j < walk.lines.length; ++j) {
      int64_t at = walk.at(begin, j);
      double one = x[at];
      if (walk.exclusive) out[at] = sum.total == 0 ? kNothing<T> : static_cast<T>(sum.largest + std::log(sum.total));
      sum.add(1, one);
      if (!walk.exclusive) out[at] = static_cast<T>(sum.largest + std::log(sum.total));
    }
  });
}

template <class T>
void LogcumsumexpGradKernel<T>::run(Device&) {
  walk.lines.each([&](int64_t begin) {
    ScaledSum sum = ScaledSum::nothing();
    for (int64_t j = walk.lines.length - 1; j >= 0; --j) {
      int64_t at = walk.at(begin, j);
      if (walk.exclusive) x_gradient[at] = times_exp<T>(sum, x[at]);
      if (!std::isinf(out[at]) && out[at] != kNothing<T>) sum.add(out_gradient[at], -static_cast<double>(out[at]));
      if (!walk.exclusive) x_gradient[at] = times_exp<T>(sum, x[at]);
    }
  });
}

}  // namespace
}  // namespace paddle_mini

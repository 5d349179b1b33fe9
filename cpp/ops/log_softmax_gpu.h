// GPU kernels of log_softmax.
#pragma once

#include <limits>

#include "math/gpu/lines.h"

namespace paddle_mini {

namespace log_softmax_gpu {

template <class T>
struct Forward : Lines {
  const T* x;
  T* out;

  PM_DEVICE void operator()() const {
    PM_SHARED T tops[kThreads];
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      T top = -std::numeric_limits<T>::infinity();
      each_element(part, [&](int64_t at, int64_t) { top = maximum(top, x[at]); });
      top = fold_line(tops, part, top, Larger{});
      double sum = 0;
      each_element(part, [&](int64_t at, int64_t) { sum += exp(x[at] - top); });
      T rest = log(static_cast<T>(fold_line(sums, part, sum, Plus{})));
      each_element(part, [&](int64_t at, int64_t) { out[at] = x[at] - top - rest; });
    });
  }
};

template <class T>
struct Backward : Lines {
  const T *out, *gradient;
  T* to;

  PM_DEVICE void operator()() const {
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      double sum = 0;
      each_element(part, [&](int64_t at, int64_t) { sum += gradient[at]; });
      T total = static_cast<T>(fold_line(sums, part, sum, Plus{}));
      each_element(part, [&](int64_t at, int64_t) { to[at] = gradient[at] - exp(out[at]) * total; });
    });
  }
};

}  // namespace log_softmax_gpu

namespace {

template <class T>
void LogSoftmaxKernel<T>::run(KernelContext& context) {
  log_softmax_gpu::Forward<T> body{{a.outer, a.size, a.inner}, x.data(), out.data()};
  launch(context, body.blocks(), body);
}

template <class T>
void LogSoftmaxGradKernel<T>::run(KernelContext& context) {
  log_softmax_gpu::Backward<T> body{{a.outer, a.size, a.inner}, out.data(), out_gradient.data(), x_gradient.data()};
  launch(context, body.blocks(), body);
}

}  // namespace

}  // namespace paddle_mini

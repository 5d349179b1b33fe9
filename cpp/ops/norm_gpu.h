// The kernels of norm on a GPU.
#pragma once

#include "math/gpu/lines.h"

namespace paddle_mini {
namespace {

template <class T>
struct NormLines : Lines {
  const T* x;
  T *out, *norm;  // norm may be nullptr
  T epsilon;

  PM_DEVICE void operator()() const {
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      double sum = 0;
      each_element(part, [&](int64_t at, int64_t) { sum += x[at] * x[at]; });
      T root = sqrt(static_cast<T>(fold_line(sums, part, sum, Plus{})) + epsilon);
      if (norm && part.exists && part.lane == 0) norm[part.line] = root;
      each_element(part, [&](int64_t at, int64_t) { out[at] = x[at] / root; });
    });
  }
};

template <class T>
struct NormGradLines : Lines {
  const T *x, *norm, *gradient;
  T* to;

  PM_DEVICE void operator()() const {
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      double sum = 0;
      each_element(part, [&](int64_t at, int64_t) { sum += x[at] * gradient[at]; });
      T root = part.exists ? norm[part.line] : T(1);
      T dot = static_cast<T>(fold_line(sums, part, sum, Plus{})) / (root * root);
      each_element(part, [&](int64_t at, int64_t) { to[at] = (gradient[at] - x[at] * dot) / root; });
    });
  }
};

template <class T>
void NormKernel<T>::run(KernelContext& context) {
  T* norms = norm ? norm.data() : nullptr;
  NormLines<T> body{{a.outer, a.size, a.inner}, x.data(), out.data(), norms, epsilon};
  launch(context, body.blocks(), body);
}

template <class T>
void NormGradKernel<T>::run(KernelContext& context) {
  NormGradLines<T> body{{a.outer, a.size, a.inner}, x.data(), norm.data(), out_gradient.data(), x_gradient.data()};
  launch(context, body.blocks(), body);
}

}  // namespace
}  // namespace paddle_mini

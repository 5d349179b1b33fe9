// Softmax on a GPU: several threads of a block share a row, or a column if the axis is not the last.
#include "math/softmax.h"

#include <limits>

#include "math/gpu/lines.h"

namespace paddle_mini {
namespace {

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
      each_element(part, [&](int64_t at, int64_t) {
        T power = exp(x[at] - top);
        out[at] = power;
        sum += power;
      });
      T factor = static_cast<T>(1 / fold_line(sums, part, sum, Plus{}));
      each_element(part, [&](int64_t at, int64_t) { out[at] *= factor; });
    });
  }
};

template <class T>
struct Backward : Lines {
  const T *out, *gradient;
  T* x_gradient;

  PM_DEVICE void operator()() const {
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      double sum = 0;
      each_element(part, [&](int64_t at, int64_t) { sum += out[at] * gradient[at]; });
      T dot = static_cast<T>(fold_line(sums, part, sum, Plus{}));
      each_element(part, [&](int64_t at, int64_t) { x_gradient[at] = out[at] * (gradient[at] - dot); });
    });
  }
};

}  // namespace

template <class T>
void Softmax::run(KernelContext& context, const T* x, T* out, T*) const {
  if (lines_.length == 0) return;
  Forward<T> body{{lines_.outer, lines_.length, lines_.inner}, x, out};
  launch(context, body.blocks(), body);
}

template <class T>
void Softmax::gradient(KernelContext& context, const T* out, const T* gradient, T* x_gradient, T*) const {
  if (lines_.length == 0) return;
  Backward<T> body{{lines_.outer, lines_.length, lines_.inner}, out, gradient, x_gradient};
  launch(context, body.blocks(), body);
}

template void Softmax::run<float>(KernelContext&, const float*, float*, float*) const;
template void Softmax::run<double>(KernelContext&, const double*, double*, double*) const;
template void Softmax::gradient<float>(KernelContext&, const float*, const float*, float*, float*) const;
template void Softmax::gradient<double>(KernelContext&, const double*, const double*, double*, double*) const;

}  // namespace paddle_mini

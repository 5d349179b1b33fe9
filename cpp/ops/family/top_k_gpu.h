// Kernels of top_k and argsort on a GPU: copy the first elements of sorted lines, and scatter their gradient.
#pragma once

#include "ops/family/sort_less.h"
#include "math/copy.h"
#include "math/gpu/report_fault.h"
#include "math/gpu/sort.h"

namespace paddle_mini {

template <class T>
struct ComesBeforeIn {
  AxisLines lines;
  const T* x;
  bool largest;
  PM_HD bool operator()(int64_t line, int64_t a, int64_t b) const {
    return ComesBefore<T>{x + lines.begin_of(line), lines.inner, largest}(a, b);
  }
};

template <class T>
struct SelectTopK {
  AxisLines lines;
  int64_t k;
  const T* x;
  const int64_t* order;
  T* out;
  int64_t* indices;

  PM_HD void operator()(int64_t i) const {  // i: element of Out
    int64_t inside = i % lines.inner, j = i / lines.inner % k, o = i / lines.inner / k;
    int64_t line = o * lines.inner + inside, best = order[line * lines.length + j];
    out[i] = x[lines.begin_of(line) + best * lines.inner];
    indices[i] = best;
  }
};

struct RefuseIndex {
  const int64_t* indices;
  int64_t length;
  Fault* fault;
  unsigned long long step;
  PM_DEVICE void operator()(int64_t i) const {
    if (indices[i] < 0 || indices[i] >= length) report_fault(fault, step, indices[i], i);
  }
};

template <class T>
struct ScatterTopK {
  AxisLines lines;
  int64_t k;
  const int64_t* indices;
  const T* out_gradient;
  T* x_gradient;

  PM_HD void operator()(int64_t i) const {  // i: element of X
    int64_t inside = i % lines.inner, at = i / lines.inner % lines.length, o = i / lines.inner / lines.length;
    T sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      int64_t from = (o * k + j) * lines.inner + inside;
      if (indices[from] == at) sum += out_gradient[from];
    }
    x_gradient[i] = sum;
  }
};

// For long lines of which most elements are selected: one thread per line. X@GRAD must be 0 before.
template <class T>
struct GiveBackLine {
  AxisLines lines;
  int64_t k;
  const int64_t* indices;
  const T* out_gradient;
  T* x_gradient;

  PM_HD void operator()(int64_t line) const {
    int64_t begin = lines.begin_of(line), from = line / lines.inner * k * lines.inner + line % lines.inner;
    for (int64_t j = 0; j < k; ++j) {
      int64_t at = indices[from + j * lines.inner];
      if (at >= 0 && at < lines.length) x_gradient[begin + at * lines.inner] += out_gradient[from + j * lines.inner];
    }
  }
};

template <TopKRule rule>
template <class T>
void TopKKernel<rule>::For<T>::run(KernelContext& context) {
  ComesBeforeIn<T> before{lines, x.data(), top_k.largest};
  const int64_t* sorted =
      sorted_lines(context, lines.count(), lines.length, before, order.data(), order.data() + x.numel());
  for_each_index(context, out.numel(), SelectTopK<T>{lines, k, x.data(), sorted, out.data(), indices.data()});
}

template <TopKRule rule>
template <class T>
void TopKGradKernel<rule>::For<T>::run(KernelContext& context) {
  int64_t n = indices.numel();
  for_each_index(context, n, RefuseIndex{indices.data(), lines.length, context.fault, context.step});
  if (k <= 1024) {
    ScatterTopK<T> give{lines, k, indices.data(), out_gradient.data(), x_gradient.data()};
    for_each_index(context, x_gradient.numel(), give);
  } else {
    fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    GiveBackLine<T> give{lines, k, indices.data(), out_gradient.data(), x_gradient.data()};
    for_each_index(context, lines.count(), give);
  }
}

}  // namespace paddle_mini

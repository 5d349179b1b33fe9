// The kernels of softmax_with_cross_entropy on a GPU.
#pragma once

#include <limits>

#include "math/for_each_index.h"
#include "math/gpu/ids.h"
#include "math/gpu/lines.h"

namespace paddle_mini {

namespace softmax_cross_entropy_gpu {

template <class T>
PM_DEVICE T finite_log(T probability) {
  return maximum(log(probability), static_cast<T>(-1e20));
}

// Softmax and loss of each row of logits, for hard or soft labels.
template <class T>
struct Forward : Lines {
  LabelsBelow hard;
  const T* soft;  // nullptr: the labels are hard
  bool use_softmax;
  const T* x;
  T *p, *loss;

  PM_DEVICE void operator()() const {
    PM_SHARED T tops[kThreads];
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      T factor = use_softmax ? exponentials(part, tops, sums) : T(1);
      const T* from = use_softmax ? p : x;
      int64_t label = soft || !part.exists ? -1 : hard[part.line];
      double total = 0;
      each_element(part, [&](int64_t at, int64_t i) {
        T v = from[at] * factor;
        p[at] = v;
        if (soft) total += soft[at] * finite_log(v);
        else if (i == label) loss[part.line] = -finite_log(v);
      });
      if (soft) total = fold_line(sums, part, total, Plus{});
      if (part.exists && part.lane == 0 && label < 0) loss[part.line] = static_cast<T>(-total);
    });
  }

  // Computes p = exp(x - the row's maximum), at least exp(-64); returns 1 / the sum of p.
  PM_DEVICE T exponentials(const LinePart& part, T* tops, double* sums) const {
    T top = -std::numeric_limits<T>::infinity();
    each_element(part, [&](int64_t at, int64_t) { top = maximum(top, x[at]); });
    top = fold_line(tops, part, top, Larger{});
    double sum = 0;
    each_element(part, [&](int64_t at, int64_t) {
      T power = exp(maximum(x[at] - top, T(-64)));
      p[at] = power;
      sum += power;
    });
    return static_cast<T>(1 / fold_line(sums, part, sum, Plus{}));
  }
};

template <class T>
struct Backward {
  LabelsBelow hard;
  const T* soft;
  bool use_softmax;
  int64_t classes, inner;
  const T *p, *gradient;
  T* to;

  PM_DEVICE void operator()(int64_t i) const {
    LinePlace place = line_place(i, classes, inner);
    T v = p[i], g = gradient[place.line];
    if (soft) {
      to[i] = use_softmax ? (v - soft[i]) * g : -(soft[i] / v) * g;
      return;
    }
    int64_t label = hard[place.line];
    if (label < 0) to[i] = T(0);
    else if (use_softmax) to[i] = place.at == label ? v * g - g : v * g;
    else to[i] = place.at == label ? -g / v : T(0);
  }
};

}  // namespace softmax_cross_entropy_gpu

template <class T>
LabelsBelow hard_labels(const KernelContext& context, const SoftmaxLabels<T>& labels, int64_t classes) {
  return {context, labels.hard ? Ids(*labels.hard) : Ids(), classes, labels.ignored};
}

namespace {

template <class T>
void SoftmaxCrossEntropyKernel<T>::run(KernelContext& context) {
  softmax_cross_entropy_gpu::Forward<T> body{{axis.outer, axis.length, axis.inner},
                                             hard_labels(context, labels, axis.length),
                                             labels.soft_data(),
                                             use_softmax,
                                             logits.data(),
                                             softmax.data(),
                                             loss.data()};
  launch(context, body.blocks(), body);
}

template <class T>
void SoftmaxCrossEntropyGradKernel<T>::run(KernelContext& context) {
  softmax_cross_entropy_gpu::Backward<T> body{hard_labels(context, labels, axis.length),
                                              labels.soft_data(),
                                              use_softmax,
                                              axis.length,
                                              axis.inner,
                                              softmax.data(),
                                              loss_gradient.data(),
                                              logits_gradient.data()};
  for_each_index(context, logits_gradient.numel(), body);
}

}  // namespace

}  // namespace paddle_mini

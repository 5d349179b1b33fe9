// The kernels of softmax_with_cross_entropy on a CPU.
#pragma once

#include "math/cpu/exp_rows.h"
#include "math/map.h"

namespace paddle_mini {

template <class T>
void SoftmaxLabels<T>::check(int64_t classes) const {
  for (int64_t i = 0, n = hard ? hard->numel() : 0; i < n; ++i) {
    int64_t id = (*hard)[i];
    if (id != ignored && (id < 0 || id >= classes)) refuse_softmax_label(id, i, classes, ignored);
  }
}

namespace {

// The exponentials of a row cost about as much as moving eight times their bytes.
template <class T>
double softmax_labels_cost(const AxisLines& axis) {
  return bytes_cost(16.0 * sizeof(T)) * static_cast<double>(axis.length * axis.inner);
}

// Clamps logits to at most 64 below the largest one, as PaddlePaddle's kernel does. Up to the logarithm of the sum,
// this bounds log-probabilities by -64 and losses by 64.
template <class V>
V shifted(V logit, V largest) {
  return no_less(logit - largest, number_of<V>(-64));
}

// The logarithm of 0 is -1e20, so losses stay finite. Only probabilities that the program supplies can be 0.
template <class V>
V finite_softmax_cross_entropy_log(V probability) {
  return maximum(log(probability), V(number_of<V>(-1e20)));
}

template <class T>
void SoftmaxCrossEntropyKernel<T>::run(KernelContext& context) {
  labels.check(axis.length);
  std::fill_n(loss.data(), loss.numel(), T(0));
  if (logits.numel() == 0) return;
  auto run_outer = [&](int64_t o) {
    const T* x = logits.data() + o * axis.length * axis.inner;
    T* p = softmax.data() + o * axis.length * axis.inner;
    if (!use_softmax) {
      if (x != p) std::copy_n(x, axis.length * axis.inner, p);
    } else if (axis.inner == 1) {
      softmax_row(context, x, p);
    } else {
      softmax_block(context, x, p);
    }
    if (labels.hard) hard_loss(o, p);
    else soft_loss(context, o, p);
  };
  // Interleaved rows share scratch memory; their loops are split instead.
  auto run_range = [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) run_outer(o);
  };
  if (axis.inner > 1) run_range(0, axis.outer);
  else parallel_rows(context, axis.outer, softmax_labels_cost<T>(axis), run_range);
}

// One contiguous row.
template <class T>
void SoftmaxCrossEntropyKernel<T>::softmax_row(KernelContext& context, const T* x, T* p) {
  int64_t n = axis.length;
  T top = row_max(x, n);
  T factor = static_cast<T>(1 / exp_sum(n, x, p, [top](auto v) { return shifted(v, decltype(v)(top)); }));
  map(context, n, [factor](auto v) { return v * decltype(v)(factor); }, p, static_cast<const T*>(p));
}

// `inner` interleaved rows.
template <class T>
void SoftmaxCrossEntropyKernel<T>::softmax_block(KernelContext& context, const T* x, T* p) {
  int64_t inner = axis.inner;
  const T *tops = largest.data(), *totals = sums.data();
  column_max(context, axis.length, inner, inner, x, largest.data());
  std::fill_n(sums.data(), inner, T(0));
  auto add = [](auto v, auto top, auto total) {
    auto e = exp_below(shifted(v, top));
    return std::make_tuple(e, total + e);
  };
  for (int64_t c = 0; c < axis.length; ++c) {
    map(context, inner, add, std::make_tuple(p + c * inner, sums.data()), x + c * inner, tops, totals);
  }
  for (int64_t c = 0; c < axis.length; ++c) {
    const T* exponentials = p + c * inner;
    map(context, inner, [](auto e, auto total) { return e / total; }, p + c * inner, exponentials, totals);
  }
}

template <class T>
void SoftmaxCrossEntropyKernel<T>::hard_loss(int64_t o, const T* p) {
  for (int64_t i = 0; i < axis.inner; ++i) {
    int64_t row = o * axis.inner + i, label = (*labels.hard)[row];
    if (label != labels.ignored) loss[row] = -finite_softmax_cross_entropy_log(p[label * axis.inner + i]);
  }
}

template <class T>
void SoftmaxCrossEntropyKernel<T>::soft_loss(KernelContext& context, int64_t o, const T* p) {
  const T* weight = labels.soft->data() + o * axis.length * axis.inner;
  T* total = loss.data() + o * axis.inner;
  if (axis.inner == 1) {
    auto part = [](auto w, auto v) { return w * finite_softmax_cross_entropy_log(v); };
    *total = static_cast<T>(-map_sum(context, axis.length, part, weight, p));
    return;
  }
  auto subtract = [](auto t, auto w, auto v) { return t - w * finite_softmax_cross_entropy_log(v); };
  for (int64_t c = 0; c < axis.length; ++c, weight += axis.inner, p += axis.inner) {
    map(context, axis.inner, subtract, total, static_cast<const T*>(total), weight, p);
  }
}

template <class T>
void SoftmaxCrossEntropyGradKernel<T>::run(KernelContext& context) {
  labels.check(axis.length);
  parallel_rows(context, axis.outer, softmax_labels_cost<T>(axis) / 2, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin, at = begin * axis.length * axis.inner; o < end; ++o, at += axis.length * axis.inner) {
      if (labels.hard) hard(context, o, softmax.data() + at, logits_gradient.data() + at);
      else soft(context, o, softmax.data() + at, labels.soft->data() + at, logits_gradient.data() + at);
    }
  });
}

// (softmax - 1 at the label) times the loss's gradient; without softmax, -1 / p at the label.
template <class T>
void SoftmaxCrossEntropyGradKernel<T>::hard(KernelContext& context, int64_t o, const T* p, T* to) {
  int64_t inner = axis.inner;
  const T* gradient = loss_gradient.data() + o * inner;
  if (use_softmax && inner == 1) {
    map(context, axis.length, [g = *gradient](auto v) { return v * decltype(v)(g); }, to, p);
  } else if (use_softmax) {
    for (int64_t c = 0; c < axis.length; ++c) {
      map(context, inner, [](auto v, auto g) { return v * g; }, to + c * inner, p + c * inner, gradient);
    }
  }
  for (int64_t i = 0; i < inner; ++i) {
    int64_t label = (*labels.hard)[o * inner + i];
    bool ignored = label == labels.ignored;
    T at_label = ignored || use_softmax ? T(0) : -gradient[i] / p[label * inner + i];
    if (ignored || !use_softmax) {
      for (int64_t c = 0; c < axis.length; ++c) to[c * inner + i] = T(0);
    }
    if (!ignored) to[label * inner + i] += use_softmax ? -gradient[i] : at_label;
  }
}

// softmax - label, as in PaddlePaddle: this is the gradient if each row of labels sums to 1.
template <class T>
void SoftmaxCrossEntropyGradKernel<T>::soft(KernelContext& context, int64_t o, const T* p, const T* weight, T* to) {
  int64_t inner = axis.inner;
  const T* gradient = loss_gradient.data() + o * inner;
  bool through_softmax = use_softmax;
  for (int64_t c = 0; c < axis.length; ++c, p += inner, weight += inner, to += inner) {
    if (through_softmax) {
      map(context, inner, [](auto v, auto w, auto g) { return (v - w) * g; }, to, p, weight, gradient);
    } else {
      map(context, inner, [](auto v, auto w, auto g) { return -(w / v) * g; }, to, p, weight, gradient);
    }
  }
}

}  // namespace

}  // namespace paddle_mini

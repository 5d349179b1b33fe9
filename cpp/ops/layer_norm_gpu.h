// GPU kernels of layer_norm.
#pragma once

#include "math/gpu/lines.h"

namespace paddle_mini {

namespace layer_norm_gpu {

template <class T>
struct Forward : Lines {
  const T *x, *scale, *bias;  // scale, bias: may be nullptr
  T *y, *mean, *variance;
  double n;
  T epsilon;

  // Two passes: a single pass would lose the variance to rounding if the mean is large.
  PM_DEVICE void operator()() const {
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      double sum = 0, squares = 0;
      each_element(part, [&](int64_t at, int64_t) { sum += x[at]; });
      T m = static_cast<T>(fold_line(sums, part, sum, Plus{}) / n);
      each_element(part, [&](int64_t at, int64_t) { squares += (x[at] - m) * (x[at] - m); });
      T v = static_cast<T>(fold_line(sums, part, squares, Plus{}) / n), s = T(1) / sqrt(v + epsilon);
      if (part.exists && part.lane == 0) {
        mean[part.line] = m;
        variance[part.line] = v;
      }
      each_element(part, [&](int64_t at, int64_t i) {
        T unit = (x[at] - m) * s;
        if (scale) unit = unit * scale[i];
        y[at] = bias ? unit + bias[i] : unit;
      });
    });
  }
};

// The inputs from which gradients are computed.
template <class T>
struct Rows {
  const T *x, *gradient, *mean, *variance;
  T epsilon;

  PM_DEVICE T one_by_deviation(int64_t row) const { return T(1) / sqrt(variance[row] + epsilon); }
};

template <class T>
struct ToX : Lines {
  Rows<T> rows;
  const T* scale;
  T* to;
  double n;

  PM_DEVICE void operator()() const {
    PM_SHARED TwoSums sums[kThreads];
    each([&](const LinePart& part) {
      T m = part.exists ? rows.mean[part.line] : T(0), s = part.exists ? rows.one_by_deviation(part.line) : T(0);
      auto scaled = [&](int64_t at, int64_t i) { return scale ? rows.gradient[at] * scale[i] : rows.gradient[at]; };
      TwoSums sum{0, 0};
      each_element(part, [&](int64_t at, int64_t i) {
        T g = scaled(at, i);
        sum.first += g;
        sum.second += g * ((rows.x[at] - m) * s);
      });
      sum = fold_line(sums, part, sum, PlusBoth{});
      T level = static_cast<T>(sum.first / n), slope = static_cast<T>(sum.second / n);
      each_element(part,
                   [&](int64_t at, int64_t i) { to[at] = s * (scaled(at, i) - level - (rows.x[at] - m) * s * slope); });
    });
  }
};

template <class T>
struct ParameterTerms {
  Rows<T> rows;
  PM_DEVICE TwoSums operator()(const int64_t (&at)[2]) const {
    T g = rows.gradient[at[1]];
    return {static_cast<double>(g * ((rows.x[at[1]] - rows.mean[at[0]]) * rows.one_by_deviation(at[0]))),
            static_cast<double>(g)};
  }
};
template <class T>
struct PutParameters {
  T *scale_gradient, *bias_gradient;
  PM_DEVICE void operator()(int64_t i, const TwoSums& sums) const {
    if (scale_gradient) scale_gradient[i] = static_cast<T>(sums.first);
    if (bias_gradient) bias_gradient[i] = static_cast<T>(sums.second);
  }
};

// Computes the sums over the rows; either gradient may be nullptr.
template <class T>
void to_parameters(KernelContext& context, const Rows<T>& rows, int64_t count, int64_t size, T* scale_gradient,
                   T* bias_gradient) {
  if (!scale_gradient && !bias_gradient) return;
  StridedIndex<2> remaining, folded;  // coordinates: row, element
  remaining.add(size, {0, 1});
  folded.add(count, {1, size});
  fold(context, remaining, folded, TwoSums{0, 0}, ParameterTerms<T>{rows}, PlusBoth{},
       PutParameters<T>{scale_gradient, bias_gradient});
}

}  // namespace layer_norm_gpu

namespace {

template <class T>
void LayerNormKernel<T>::run(KernelContext& context) {
  layer_norm_gpu::Forward<T> body{{r.rows, r.size, 1},
                                  x.data(),
                                  scale ? scale.data() : nullptr,
                                  bias ? bias.data() : nullptr,
                                  y.data(),
                                  mean.data(),
                                  variance.data(),
                                  r.count(),
                                  static_cast<T>(epsilon)};
  launch(context, body.blocks(), body);
}

// Writes X@GRAD last, because it may share the memory of Y@GRAD.
template <class T>
void LayerNormGradKernel<T>::run(KernelContext& context) {
  layer_norm_gpu::Rows<T> rows{x.data(), y_gradient.data(), mean.data(), variance.data(), static_cast<T>(epsilon)};
  layer_norm_gpu::to_parameters(context, rows, r.rows, r.size, scale_gradient ? scale_gradient.data() : nullptr,
                                bias_gradient ? bias_gradient.data() : nullptr);
  if (!x_gradient) return;
  layer_norm_gpu::ToX<T> body{{r.rows, r.size, 1}, rows, scale ? scale.data() : nullptr, x_gradient.data(), r.count()};
  launch(context, body.blocks(), body);
}

}  // namespace

}  // namespace paddle_mini

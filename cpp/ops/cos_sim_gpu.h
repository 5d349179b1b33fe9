// GPU kernels of cos_sim.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/lines.h"

namespace paddle_mini {

namespace cos_sim_gpu {

constexpr double kShortest = 1e-8;  // shorter rows count as this long

// Computes the length of each row.
template <class T>
struct Lengths : Lines {
  const T* x;
  T* norm;

  PM_DEVICE void operator()() const {
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      double sum = 0;
      each_element(part, [&](int64_t at, int64_t) { sum += x[at] * x[at]; });
      double length = sqrt(fold_line(sums, part, sum, Plus{}));
      if (part.exists && part.lane == 0) norm[part.line] = static_cast<T>(maximum(length, kShortest));
    });
  }
};

// Pairs rows of X with rows of Y; with y_step 0, all of them with the only row of Y.
template <class T>
struct Cosines : Lines {
  int64_t y_step;
  const T *x, *y, *x_norm, *y_norm;
  T* out;

  PM_DEVICE void operator()() const {
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      double sum = 0;
      each_element(part, [&](int64_t at, int64_t i) { sum += x[at] * y[part.line * y_step + i]; });
      sum = fold_line(sums, part, sum, Plus{});
      if (!part.exists || part.lane != 0) return;
      double norms = static_cast<double>(x_norm[part.line]) * static_cast<double>(y_norm[y_step ? part.line : 0]);
      out[part.line] = static_cast<T>(sum / norms);
    });
  }
};

// The gradient of an element of `own` that is paired with one of `other`: g (other / (n m) - out own / n^2).
template <class T>
struct Slope {
  const T *own, *other, *own_norm, *other_norm, *out, *gradient;
  PM_DEVICE T at(int64_t row, int64_t own_row, int64_t other_row, int64_t own_at, int64_t other_at) const {
    T g = gradient[row], n = own_norm[own_row], m = other_norm[other_row];
    return other[other_at] * (g / (n * m)) - own[own_at] * (g * out[row] / (n * n));
  }
};

template <class T>
struct ToX {
  Slope<T> slope;
  int64_t size, y_step;
  T* to;
  PM_DEVICE void operator()(int64_t i) const {
    LinePlace place = line_place(i, size, 1);
    int64_t y_row = y_step ? place.line : 0;
    to[i] = slope.at(place.line, place.line, y_row, i, y_row * y_step + place.at);
  }
};

// Computes the gradient of one element of Y; if Y has one row, this is the sum over the rows of X.
template <class T>
struct ToY {
  Slope<T> slope;
  int64_t rows, size, y_step;
  T* to;
  PM_DEVICE void operator()(int64_t i) const {
    LinePlace place = line_place(i, size, 1);
    T total = 0;
    for (int64_t row = y_step ? place.line : 0; row < (y_step ? place.line + 1 : rows); ++row) {
      total += slope.at(row, place.line, row, i, row * size + place.at);
    }
    to[i] = total;
  }
};

}  // namespace cos_sim_gpu

namespace {

template <class T>
void CosSimKernel<T>::run(KernelContext& context) {
  int64_t y_rows = y_norm.numel();
  cos_sim_gpu::Lengths<T> of_x{{pairs.rows, pairs.size, 1}, x.data(), x_norm.data()};
  cos_sim_gpu::Lengths<T> of_y{{y_rows, pairs.size, 1}, y.data(), y_norm.data()};
  cos_sim_gpu::Cosines<T> body{
      {pairs.rows, pairs.size, 1}, pairs.y_step, x.data(), y.data(), x_norm.data(), y_norm.data(), out.data()};
  launch(context, of_x.blocks(), of_x);
  launch(context, of_y.blocks(), of_y);
  launch(context, body.blocks(), body);
}

template <class T>
void CosSimGradKernel<T>::run(KernelContext& context) {
  cos_sim_gpu::Slope<T> of_x{x.data(), y.data(), x_norm.data(), y_norm.data(), out.data(), out_gradient.data()};
  cos_sim_gpu::Slope<T> of_y{y.data(), x.data(), y_norm.data(), x_norm.data(), out.data(), out_gradient.data()};
  int64_t rows = pairs.rows, size = pairs.size, step = pairs.y_step;
  if (x_gradient) {
    for_each_index(context, x_gradient.numel(), cos_sim_gpu::ToX<T>{of_x, size, step, x_gradient.data()});
  }
  if (y_gradient) {
    for_each_index(context, y_gradient.numel(), cos_sim_gpu::ToY<T>{of_y, rows, size, step, y_gradient.data()});
  }
}

}  // namespace

}  // namespace paddle_mini

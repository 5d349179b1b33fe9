// CPU kernels of batch_norm.
#pragma once

namespace paddle_mini {

// Calls f(range) for ranges of channels, on several threads. Elements of a channel that fit into the L2 cache are read from
// memory once, although they are needed two or three times: then a range is one channel. Otherwise it is all of them.
template <class T, class F>
void BatchChannels::each_range(KernelContext& context, F f) const {
  constexpr int64_t kBytes = 1 << 20;
  constexpr double kReads = 3;
  if (inner == 1 || channels < context.threads || each() * int64_t{sizeof(T)} > kBytes) return f(Range{0, channels});
  const double cost = kReads * bytes_cost(4.0 * sizeof(T)) * static_cast<double>(each());
  parallel_for(context, {channels, cost}, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) f(Range{c, c + 1});
  });
}

// totals[c] = sum of f(a, b, shift[c]) over the elements of channel c.
template <class T, class F>
void BatchChannels::sums(KernelContext& context, Range range, F f, const T* a, const T* b, const T* shift,
                         double* totals) const {
  const double cost = bytes_cost(4.0 * sizeof(T)) * static_cast<double>(each());
  parallel_for(context, {range.end - range.begin, cost}, [&](int64_t begin, int64_t end) {
    begin += range.begin, end += range.begin;
    std::fill(totals + begin, totals + end, 0.0);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t c = begin; c < end; ++c) {
        const T *x = a + (o * channels + c) * inner, *y = b + (o * channels + c) * inner, s = shift[c];
        if (inner == 1) totals[c] += static_cast<double>(f(*x, *y, s));
        else totals[c] += map_sum(context, inner, [f, s](auto v, auto w) { return f(v, w, decltype(v)(s)); }, x, y);
      }
    }
  });
}

// to = f(a, b, p[c]...)
template <class T, class F, class... PerChannel>
void BatchChannels::each_element(KernelContext& context, Range range, F f, T* to, const T* a, const T* b,
                                 const PerChannel*... p) const {
  const int64_t width = inner == 1 ? channels : inner, count = range.end - range.begin;
  const int64_t rows = inner == 1 ? outer : outer * count;
  parallel_rows(context, rows, bytes_cost(4.0 * sizeof(T)) * static_cast<double>(width),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) {
                    if (inner == 1) {
                      const int64_t at = row * width;
                      map(context, channels, f, to + at, a + at, b + at, p...);
                      continue;
                    }
                    auto with = [f](auto... constants) {
                      return [f, constants...](auto x, auto y) { return f(x, y, decltype(x)(constants)...); };
                    };
                    const int64_t c = range.begin + row % count, at = (row / count * channels + c) * inner;
                    map(context, inner, with(p[c]...), to + at, a + at, b + at);
                  }
                });
}

namespace {

template <class T>
void BatchNormKernel<T>::run(KernelContext& context) {
  if (!use_running && layout.each() == 1) {  // PaddlePaddle passes one element through, without updating statistics
    const int64_t n = layout.channels;
    carry_statistics({0, n});
    std::fill_n(saved_mean.data(), n, T(0));
    std::fill_n(saved_variance.data(), n, T(0));
    if (x.data() != y.data()) std::copy_n(x.data(), n, y.data());
    return;
  }
  layout.each_range<T>(context, [&](BatchChannels::Range range) {
    if (use_running || layout.each() == 0) carry_statistics(range);
    else batch_statistics(context, range);
    for (int64_t c = range.begin; c < range.end; ++c) {
      factor[c] = saved_variance[c] * (scale ? scale[c] : T(1));
      offset[c] = bias ? bias[c] : T(0);
    }
    const T *center = saved_mean.data(), *k = factor.data(), *l = offset.data();
    auto normalize = [](auto v, auto, auto m, auto p, auto q) { return (v - m) * p + q; };
    layout.each_element(context, range, normalize, y.data(), x.data(), x.data(), center, k, l);
  });
}

template <class T>
void BatchNormKernel<T>::carry_statistics(BatchChannels::Range range) {
  for (int64_t c = range.begin; c < range.end; ++c) {
    saved_mean[c] = mean[c];
    saved_variance[c] = one_by_batch_deviation(variance[c], epsilon);
    mean_out[c] = mean[c], variance_out[c] = variance[c];  // often the same
  }
}

// Two passes: a single pass would lose the variance to rounding if the mean is large. The variance is that of the
// batch: the sum is divided by n, not by n - 1.
template <class T>
void BatchNormKernel<T>::batch_statistics(KernelContext& context, BatchChannels::Range range) {
  double count = static_cast<double>(layout.each());
  T part = static_cast<T>(momentum), rest = T(1) - part;
  std::fill(offset.data() + range.begin, offset.data() + range.end, T(0));
  const T* no_shift = offset.data();
  auto same = [](auto a, auto, auto) { return a; };
  layout.sums(context, range, same, x.data(), x.data(), no_shift, totals.data());
  for (int64_t c = range.begin; c < range.end; ++c) saved_mean[c] = static_cast<T>(totals[c] / count);
  auto squares = [](auto a, auto, auto m) { return (a - m) * (a - m); };
  layout.sums(context, range, squares, x.data(), x.data(), static_cast<const T*>(saved_mean.data()), totals.data());
  for (int64_t c = range.begin; c < range.end; ++c) {
    T batch_variance = static_cast<T>(totals[c] / count);
    mean_out[c] = mean[c] * part + saved_mean[c] * rest;
    variance_out[c] = variance[c] * part + batch_variance * rest;
    saved_variance[c] = one_by_batch_deviation(batch_variance, epsilon);
  }
}

template <class T>
void BatchNormGradKernel<T>::run(KernelContext& context) {
  const bool passes = !use_running && layout.each() == 1;  // as in the forward kernel
  layout.each_range<T>(context, [&](BatchChannels::Range range) { run_range(context, range, passes); });
}

template <class T>
void BatchNormGradKernel<T>::run_range(KernelContext& context, BatchChannels::Range range, bool passes) {
  const auto [first, end] = range;
  for (int64_t c = first; c < end; ++c) {
    center[c] = use_running ? running_mean[c] : mean[c];
    s[c] = use_running ? one_by_batch_deviation(running_variance[c], epsilon) : deviation[c];
  }
  const T *dy = y_gradient.data(), *centers = center.data();
  auto times_difference = [](auto g, auto v, auto m) { return g * (v - m); };
  layout.sums(context, range, [](auto g, auto, auto) { return g; }, dy, dy, centers, to_bias.data());
  layout.sums(context, range, times_difference, dy, x.data(), centers, to_scale.data());
  for (int64_t c = first; c < end; ++c) {
    to_scale[c] *= static_cast<double>(s[c]);
    if (bias_gradient) bias_gradient[c] = passes ? T(0) : static_cast<T>(to_bias[c]);
    if (scale_gradient) scale_gradient[c] = passes ? T(0) : static_cast<T>(to_scale[c]);
  }
  if (!x_gradient) return;
  if (passes) {
    if (dy != x_gradient.data()) std::copy(dy + first, dy + end, x_gradient.data() + first);
    return;
  }
  // X@GRAD = dY p - (X - mean) q - r
  double count = use_running || layout.each() == 0 ? HUGE_VAL : static_cast<double>(layout.each());
  for (int64_t c = first; c < end; ++c) {
    p[c] = (scale ? scale[c] : T(1)) * s[c];
    q[c] = static_cast<T>(static_cast<double>(p[c]) * static_cast<double>(s[c]) * to_scale[c] / count);
    r[c] = static_cast<T>(static_cast<double>(p[c]) * to_bias[c] / count);
  }
  const T *k = p.data(), *l = q.data(), *rest = r.data();
  auto combine = [](auto g, auto v, auto m, auto a, auto b, auto d) { return g * a - (v - m) * b - d; };
  layout.each_element(context, range, combine, x_gradient.data(), dy, x.data(), centers, k, l, rest);
}

}  // namespace

}  // namespace paddle_mini

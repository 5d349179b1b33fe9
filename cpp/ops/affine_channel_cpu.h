// CPU kernels of affine_channel.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void AffineChannelKernel<T>::run(KernelContext& context) {
  for (int64_t i = 0; i < rows.images; ++i)
    rows.each(i, 0, rows.channels, [&](int64_t at, int64_t n, int64_t c) {
      if (rows.last) {
        auto each = [](auto v, auto k, auto b) { return v * k + b; };
        map(context, n, each, out.data() + at, x.data() + at, scale.data(), bias.data());
      } else {
        auto all = [k = scale[c], b = bias[c]](auto v) { return v * decltype(v)(k) + decltype(v)(b); };
        map(context, n, all, out.data() + at, x.data() + at);
      }
    });
}

// Writes X@GRAD last, because it may share the memory of Out@GRAD.
template <class T>
void AffineChannelGradKernel<T>::run(KernelContext& context) {
  if (scale_gradient) std::fill_n(scale_gradient.data(), rows.channels, T(0));
  if (bias_gradient) std::fill_n(bias_gradient.data(), rows.channels, T(0));
  for (int64_t i = 0; i < rows.images; ++i)
    rows.each(i, 0, rows.channels, [&](int64_t at, int64_t n, int64_t c) {
      const T *g = out_gradient.data() + at, *from = x.data() + at;
      if (rows.last) add_row(context, n, g, from);
      else add_channel(context, n, g, from, c);
      if (!x_gradient) return;
      T* to = x_gradient.data() + at;
      if (rows.last) map(context, n, [](auto w, auto k) { return w * k; }, to, g, scale.data());
      else map(context, n, [k = scale[c]](auto w) { return w * decltype(w)(k); }, to, g);
    });
}

template <class T>
void AffineChannelGradKernel<T>::add_row(KernelContext& context, int64_t n, const T* g, const T* from) {
  T* scales = scale_gradient ? scale_gradient.data() : nullptr;
  T* biases = bias_gradient ? bias_gradient.data() : nullptr;
  const T *scale_sums = scales, *bias_sums = biases;
  auto add_product = [](auto sum, auto w, auto v) { return sum + w * v; };
  if (scales) map(context, n, add_product, scales, scale_sums, g, from);
  if (biases) map(context, n, [](auto sum, auto w) { return sum + w; }, biases, bias_sums, g);
}

template <class T>
void AffineChannelGradKernel<T>::add_channel(KernelContext& context, int64_t n, const T* g, const T* from, int64_t c) {
  auto product = [](auto w, auto v) { return w * v; };
  if (scale_gradient) scale_gradient[c] += static_cast<T>(map_sum(context, n, product, g, from));
  if (bias_gradient) bias_gradient[c] += static_cast<T>(map_sum(context, n, [](auto w) { return w; }, g));
}

}  // namespace
}  // namespace paddle_mini

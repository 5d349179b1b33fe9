// GPU kernels of lrn.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
struct LrnPixel {
  Neighbours<T> near;
  // Sum of f(j) over the channel of element i and its neighbours.
  template <class F>
  PM_DEVICE T sum(int64_t i, F f) const {
    int64_t c = i / near.lines.inner % near.lines.length;
    return near.sum(i - c * near.lines.inner, c, f);
  }
};

template <class T>
struct Lrn : LrnPixel<T> {
  const T* x;
  T *out, *middles;
  PM_DEVICE void operator()(int64_t i) const {
    T middle = this->near.k + this->near.alpha * this->sum(i, [&](int64_t j) { return x[j] * x[j]; });
    middles[i] = middle;
    out[i] = x[i] * std::pow(middle, -this->near.beta);
  }
};

template <class T>
struct LrnGrad : LrnPixel<T> {
  const T *x, *out, *middles, *gradient;
  T* to;
  PM_DEVICE void operator()(int64_t i) const {
    T factor = 2 * this->near.alpha * this->near.beta;
    T through = this->sum(i, [&](int64_t j) { return gradient[j] * out[j] / middles[j]; });
    to[i] = gradient[i] * std::pow(middles[i], -this->near.beta) - factor * x[i] * through;
  }
};

template <class T>
void LrnKernel<T>::run(KernelContext& context) {
  for_each_index(context, x.numel(), Lrn<T>{{near}, x.data(), out.data(), mid_out.data()});
}

template <class T>
void LrnGradKernel<T>::run(KernelContext& context) {
  LrnGrad<T> body{{near}, x.data(), out.data(), mid_out.data(), out_gradient.data(), x_gradient.data()};
  for_each_index(context, x.numel(), body);
}

}  // namespace
}  // namespace paddle_mini

// CPU kernels of bilinear_tensor_product.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void BilinearKernel<T>::add_up(KernelContext& context, int64_t o) {
  auto multiply = [](auto v, auto w) { return v * w; };
  for (int64_t b = 0; b < s.batch; ++b) {
    const T* row = product.data() + b * s.y;
    double sum = map_sum(context, s.y, multiply, row, y.data() + b * s.y);
    out[b * s.out + o] = static_cast<T>(bias ? sum + static_cast<double>(bias[o]) : sum);
  }
}

template <class T>
void BilinearGradKernel<T>::scale(KernelContext& context, int64_t o, int64_t size, const T* from, T* to) {
  for (int64_t b = 0; b < s.batch; ++b) {
    auto scaled = [g = out_gradient[b * s.out + o]](auto v) { return v * decltype(v)(g); };
    map(context, size, scaled, to + b * size, from + b * size);
  }
}

}  // namespace
}  // namespace paddle_mini

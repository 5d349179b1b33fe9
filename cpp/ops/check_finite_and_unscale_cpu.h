// CPU kernels of check_finite_and_unscale.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void CheckFiniteAndUnscaleKernel<T>::run(KernelContext& context) {
  T inverse = T(1) / scale[0];
  bool infinite = false;
  for (size_t i = 0; i < xs.size(); ++i) {
    int64_t n = xs[i].numel();
    // 0 times a finite number is 0, 0 times infinity or NaN is NaN, and a sum with a NaN is NaN.
    infinite = infinite || map_sum(context, n, [](auto v) { return v * decltype(v)(T(0)); }, xs[i].data()) != 0;
    T factor = infinite ? T(0) : inverse;
    map(context, n, [factor](auto v) { return v * decltype(v)(factor); }, outs[i].data(), xs[i].data());
  }
  found[0] = infinite;
}

}  // namespace
}  // namespace paddle_mini

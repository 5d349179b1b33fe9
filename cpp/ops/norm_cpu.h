// The kernels of norm on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void NormKernel<T>::run(KernelContext& context) {
  const T* r = roots.data();
  auto add = [](auto sum, auto v) { return sum + v * v; };
  for (int64_t o = 0; o < a.outer; ++o) {
    const T* from = x.data() + o * a.size * a.inner;
    T* to = out.data() + o * a.size * a.inner;
    if (a.inner == 1) {
      roots[0] = static_cast<T>(map_sum(context, a.size, [](auto v) { return v * v; }, from));
    } else {
      std::fill_n(roots.data(), a.inner, T(0));
      for (int64_t i = 0; i < a.size; ++i) map(context, a.inner, add, roots.data(), r, from + i * a.inner);
    }
    for (int64_t i = 0; i < a.inner; ++i) roots[i] = std::sqrt(roots[i] + epsilon);
    if (norm) std::copy_n(r, a.inner, norm.data() + o * a.inner);
    divide(context, from, r, to);
  }
}

template <class T>
void NormKernel<T>::divide(KernelContext& context, const T* from, const T* r, T* to) {
  if (a.inner == 1) {
    map(context, a.size, [n = r[0]](auto v) { return v / decltype(v)(n); }, to, from);
    return;
  }
  for (int64_t i = 0; i < a.size; ++i) {
    map(context, a.inner, [](auto v, auto n) { return v / n; }, to + i * a.inner, from + i * a.inner, r);
  }
}

template <class T>
void NormGradKernel<T>::run(KernelContext& context) {
  auto pass = [](auto g, auto v, auto dot, auto n) { return (g - v * dot) / n; };
  for (int64_t o = 0; o < a.outer; ++o) {
    int64_t at = o * a.size * a.inner;
    const T *from = x.data() + at, *g = out_gradient.data() + at, *n = norm.data() + o * a.inner;
    T* to = x_gradient.data() + at;
    if (a.inner == 1) {
      T dot = static_cast<T>(map_sum(context, a.size, [](auto v, auto w) { return v * w; }, from, g)) / (*n * *n);
      auto row = [pass, dot, root = *n](auto w, auto v) { return pass(w, v, decltype(w)(dot), decltype(w)(root)); };
      map(context, a.size, row, to, g, from);
      continue;
    }
    dot_columns(context, from, g, n);
    const T* d = dots.data();
    for (int64_t i = 0; i < a.size; ++i) {
      map(context, a.inner, pass, to + i * a.inner, g + i * a.inner, from + i * a.inner, d, n);
    }
  }
}

template <class T>
void NormGradKernel<T>::dot_columns(KernelContext& context, const T* from, const T* g, const T* n) {
  const T* d = dots.data();
  auto add = [](auto sum, auto v, auto w) { return sum + v * w; };
  std::fill_n(dots.data(), a.inner, T(0));
  for (int64_t i = 0; i < a.size; ++i) {
    map(context, a.inner, add, dots.data(), d, from + i * a.inner, g + i * a.inner);
  }
  map(context, a.inner, [](auto dot, auto root) { return dot / (root * root); }, dots.data(), d, n);
}

}  // namespace
}  // namespace paddle_mini

// Kernels of top_k and argsort on a CPU.
#pragma once

namespace paddle_mini {

template <TopKRule rule>
template <class T>
void TopKKernel<rule>::For<T>::run(KernelContext&) {
  if (k == 0) return;
  for (int64_t o = 0; o < lines.outer; ++o) {
    for (int64_t i = 0; i < lines.inner; ++i) {
      const T* line = x.data() + o * lines.length * lines.inner + i;
      ComesBefore<T> before{line, lines.inner, top_k.largest};
      const int64_t* best = k == 1 ? first(before) : sorted(before);
      for (int64_t j = 0; j < k; ++j) {
        int64_t at = (o * k + j) * lines.inner + i;
        out[at] = line[best[j] * lines.inner];
        indices[at] = best[j];
      }
    }
  }
}

template <TopKRule rule>
template <class T>
const int64_t* TopKKernel<rule>::For<T>::first(const ComesBefore<T>& before) {
  int64_t best = 0;
  for (int64_t j = 1; j < lines.length; ++j) best = before(j, best) ? j : best;
  order[0] = best;
  return order.data();
}

template <TopKRule rule>
template <class T>
const int64_t* TopKKernel<rule>::For<T>::sorted(const ComesBefore<T>& before) {
  int64_t* end = order.data() + lines.length;
  std::iota(order.data(), end, int64_t{0});
  if (k == lines.length) std::sort(order.data(), end, before);
  else std::partial_sort(order.data(), order.data() + k, end, before);
  return order.data();
}

template <TopKRule rule>
template <class T>
void TopKGradKernel<rule>::For<T>::run(KernelContext&) {
  for (int64_t i = 0, n = indices.numel(); i < n; ++i) {
    if (indices[i] < 0 || indices[i] >= lines.length) refuse_index(indices[i]);
  }
  std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
  for (int64_t o = 0; o < lines.outer; ++o) {
    for (int64_t j = 0; j < k; ++j) {
      for (int64_t i = 0; i < lines.inner; ++i) {
        int64_t from = (o * k + j) * lines.inner + i;
        x_gradient[(o * lines.length + indices[from]) * lines.inner + i] += out_gradient[from];
      }
    }
  }
}

}  // namespace paddle_mini

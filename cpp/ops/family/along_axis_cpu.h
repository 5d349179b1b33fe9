// Kernels of along_axis on a CPU.
#pragma once

namespace paddle_mini {

inline void AlongAxis::check() const {
  int64_t low = negatives_too ? -length : 0;
  for (int64_t i = 0, n = index.numel(); i < n; ++i) {
    if (index[i] < low || index[i] >= length) refuse(index[i], i);
  }
}

// f(offset in Index, offset in X)
template <class F>
void AlongAxis::each(F f) const {
  int64_t i = 0, step = x.numel(axis + 1, x.rank());
  for (int64_t first : outer_) {
    for (int64_t p = 0; p < picked; ++p) {
      for (int64_t last : inner_) {
        int64_t at = index[i] < 0 ? index[i] + length : index[i];
        f(i++, first + at * step + last);
      }
    }
  }
}

template <const AlongRule& rule>
template <class T>
void TakeKernel<rule>::For<T>::run(KernelContext&) {
  along.check();
  along.each([this](int64_t i, int64_t at) { out[i] = x[at]; });
}

template <const AlongRule& rule>
template <class T>
void TakeGradKernel<rule>::For<T>::run(KernelContext&) {
  along.check();
  std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
  along.each([this](int64_t i, int64_t at) { x_gradient[at] += out_gradient[i]; });
}

}  // namespace paddle_mini

// Dot products of corresponding rows on a GPU.
#pragma once

#include "math/gpu/fold.h"

namespace paddle_mini {

namespace dot_gpu {

template <class T>
struct WrappingType {
  using type = std::make_unsigned_t<T>;
};
template <>
struct WrappingType<float> {
  using type = double;
};
template <>
struct WrappingType<double> {
  using type = double;
};
template <class T>
using Sum = typename WrappingType<T>::type;

template <class T>
struct Get {
  const T *x, *y;
  PM_DEVICE Sum<T> operator()(const int64_t (&at)[1]) const {
    if constexpr (std::is_integral_v<T>) return static_cast<Sum<T>>(x[at[0]]) * static_cast<Sum<T>>(y[at[0]]);
    else return x[at[0]] * y[at[0]];
  }
};

// out[o * step] = the sum, plus *added if given.
template <class T>
struct Put {
  T* out;
  int64_t step;
  const T* added;
  PM_DEVICE void operator()(int64_t o, Sum<T> sum) const {
    out[o * step] = static_cast<T>(added ? sum + static_cast<Sum<T>>(*added) : sum);
  }
};

}  // namespace dot_gpu

// out[o * step] = the sum of x[o][i] y[o][i], plus *added if given
template <class T>
void dot_rows(KernelContext& context, int64_t rows, int64_t size, const T* x, const T* y, T* out, int64_t step = 1,
              const T* added = nullptr) {
  StridedIndex<1> remaining, folded;
  remaining.add(rows, {size});
  folded.add(size, {1});
  fold(context, remaining, folded, dot_gpu::Sum<T>(0), dot_gpu::Get<T>{x, y}, Plus{},
       dot_gpu::Put<T>{out, step, added});
}

}  // namespace paddle_mini

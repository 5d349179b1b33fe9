// Kernels of arg_extreme on a GPU.
#pragma once

#include "math/gpu/fold.h"

namespace paddle_mini {

namespace arg_gpu {

template <class T>
struct At {
  T value;
  int64_t at;  // -1: no element
};

template <class T>
struct Get {
  const T* x;
  PM_DEVICE At<T> operator()(const int64_t (&at)[2]) const { return {x[at[0]], at[1]}; }
};

template <class Better>
struct FirstOf {
  template <class T>
  PM_DEVICE At<T> operator()(At<T> a, At<T> b) const {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    if (a_is_nan != b_is_nan) return a_is_nan ? a : b;
    if (Better{}(a.value, b.value)) return a;
    if (Better{}(b.value, a.value)) return b;
    return a.at < b.at ? a : b;
  }
};

template <class T, class Index>
struct Put {
  Index* out;
  PM_DEVICE void operator()(int64_t o, At<T> best) const { out[o] = static_cast<Index>(best.at); }
};

}  // namespace arg_gpu

template <class Better>
template <class T>
void ArgExtremeKernel<Better>::For<T>::run(KernelContext& context) {
  if (out.tensor.dtype == DType::Int32) run_to<int32_t>(context);
  else run_to<int64_t>(context);
}

template <class Better>
template <class T>
template <class Index>
void ArgExtremeKernel<Better>::For<T>::run_to(KernelContext& context) {
  StridedIndex<2> remaining, folded;  // offset in X, position along a line
  remaining.add(lines.inner, {1, 0});
  remaining.add(lines.outer, {lines.length * lines.inner, 0});
  folded.add(lines.length, {lines.inner, 1});
  fold(context, remaining, folded, arg_gpu::At<T>{T(0), -1}, arg_gpu::Get<T>{x.data()}, arg_gpu::FirstOf<Better>{},
       arg_gpu::Put<T, Index>{static_cast<Index*>(out.tensor.data)});
}

}  // namespace paddle_mini

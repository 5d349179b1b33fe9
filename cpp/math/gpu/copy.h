// Copying and filling arrays on a GPU.
#pragma once

#include "cuda/copy.h"
#include "math/map.h"
#include "math/scalar_arg.h"

namespace paddle_mini {

template <class T>
void fill_n(KernelContext& context, T* to, int64_t n, const ScalarArg<std::common_type_t<T>>& value) {
  map(context, n, ConstantOf<T>{value}, to);
}

template <class T>
void copy_n(KernelContext& context, const T* from, int64_t n, T* to) {
  copy_bytes(context, from, static_cast<size_t>(n) * sizeof(T), to);
}

}  // namespace paddle_mini

// Copying and filling arrays on a CPU; interruptible.
#pragma once

#include <algorithm>
#include "math/map.h"
#include "math/scalar_arg.h"

namespace paddle_mini {

template <class T>
void fill_n(KernelContext& context, T* to, int64_t n, const ScalarArg<std::common_type_t<T>>& value) {
  map(context, n, ConstantOf<T>{value}, to);
}

template <class T>
void copy_n(KernelContext& context, const T* from, int64_t n, T* to) {
  parallel_for(context, {n, bytes_cost(2 * sizeof(T)), 256},
               [&](int64_t begin, int64_t end) { std::copy(from + begin, from + end, to + begin); });
}

}  // namespace paddle_mini

// Copying and filling arrays, wherever they are; on a CPU the user may stop it.
#pragma once

#include <algorithm>

#include "core/interruption.h"
#include "math/map.h"
#include "math/uniform.h"

#ifdef PM_GPU
#include "cuda/copy.h"
#endif

namespace paddle_mini {

// What the numbers of all elements are; a tensor may hold it.
template <class T>
struct Constant {
  T value;
  PM_HD T operator()() const { return value; }
};
template <class T>
struct ConstantOf {
  Uniform<T> value;
  PM_HD Constant<T> ready() const { return {value()}; }
};

template <class T>
void fill_n(Device& device, T* to, int64_t n, const Uniform<std::common_type_t<T>>& value) {
  map(device, n, ConstantOf<T>{value}, to);
}

// The arrays do not overlap.
template <class T>
void copy_n(Device& device, const T* from, int64_t n, T* to) {
#ifdef PM_GPU
  copy_bytes(device, from, static_cast<size_t>(n) * sizeof(T), to);
#else
  (void)device;
  in_slices(n, sizeof(T), [&](int64_t begin, int64_t end) { std::copy(from + begin, from + end, to + begin); });
#endif
}

}  // namespace paddle_mini

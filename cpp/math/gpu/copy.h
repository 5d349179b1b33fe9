// Copying and filling arrays on a GPU.
#pragma once

#include "cuda/copy.h"
#include "math/map.h"
#include "math/uniform.h"

namespace paddle_mini {

template <class T>
void fill_n(Device& device, T* to, int64_t n, const Uniform<std::common_type_t<T>>& value) {
  map(device, n, ConstantOf<T>{value}, to);
}

template <class T>
void copy_n(Device& device, const T* from, int64_t n, T* to) {
  copy_bytes(device, from, static_cast<size_t>(n) * sizeof(T), to);
}

}  // namespace paddle_mini

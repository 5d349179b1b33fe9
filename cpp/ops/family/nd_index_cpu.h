// Kernels of nd_index on a CPU.
#pragma once

namespace paddle_mini {

inline int64_t NdIndex::first_outside() const {
  for (int64_t i = 0, n = picked * axes; i < n; ++i) {
    int64_t size = x[static_cast<int>(i % axes)], low = negatives_too ? -size : 0;
    if (index[i] < low || index[i] >= size) return i;
  }
  return -1;
}

template <class F>
void NdIndex::each(int64_t begin, int64_t end, F f) const {
  for (int64_t slab = begin; slab < end; ++slab) {
    int64_t at = 0;
    for (int axis = 0; axis < axes; ++axis) {
      int64_t j = index[slab * axes + axis];
      at = at * x[axis] + (j < 0 ? j + x[axis] : j);
    }
    f(slab * width, at * width);
  }
}

}  // namespace paddle_mini

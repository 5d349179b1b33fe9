// Kernels of nd_index on a CPU.
#pragma once

namespace paddle_mini {

inline void NdIndex::check() const {
  for (int64_t i = 0, n = slabs * axes; i < n; ++i) {
    int axis = static_cast<int>(i % axes);
    int64_t size = x[axis], low = negatives_too ? -size : 0;
    if (index[i] < low || index[i] >= size) refuse(index[i], i);
  }
}

// Offset of the slab in X.
inline int64_t NdIndex::operator[](int64_t slab) const {
  int64_t at = 0;
  for (int axis = 0; axis < axes; ++axis) {
    int64_t j = index[slab * axes + axis];
    at = at * x[axis] + (j < 0 ? j + x[axis] : j);
  }
  return at * width;
}

}  // namespace paddle_mini

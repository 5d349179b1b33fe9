// Kernels of nd_index on a GPU.
#pragma once

namespace paddle_mini {

// Index of the slab at the i-th coordinates; -1, with a reported error, if they are out of range.
struct NdPositions {
  Ids ids;
  int axes;
  int64_t sizes[Shape::kMaxRank];
  bool negatives_too;
  Refusal refuse;

  NdPositions(const KernelContext& context, const IndexIn& in, const Shape& x, int axes, bool negatives_too)
      : ids(in), axes(axes), sizes{}, negatives_too(negatives_too), refuse(context) {
    for (int axis = 0; axis < axes; ++axis) sizes[axis] = x[axis];
  }
  PM_DEVICE int64_t operator()(int64_t i) const {
    int64_t slab = 0;
    for (int axis = 0; axis < axes; ++axis) {
      int64_t id = ids[i * axes + axis], size = sizes[axis], at = negatives_too && id < 0 ? id + size : id;
      if (at < 0 || at >= size) {
        refuse(id, i * axes + axis);
        return -1;
      }
      slab = slab * size + at;
    }
    return slab;
  }
};

inline NdPositions positions_of(const KernelContext& context, const NdIndex& index) {
  return {context, index.index, index.x, index.axes, index.negatives_too};
}

}  // namespace paddle_mini

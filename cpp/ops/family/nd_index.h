// Positions in a tensor that are given by several coordinates at once: gather_nd and scatter_nd_add.
#pragma once

#include "core/op_table.h"

#ifdef PM_GPU
#include "math/gpu/by_target.h"
#include "math/gpu/positions.h"
#endif

namespace paddle_mini {

#ifdef PM_GPU
// The number of the slab that the i-th coordinates name; -1 if there is none such, which is refused.
struct NdPositions {
  Ids ids;
  int axes;
  int64_t sizes[Shape::kMaxRank];
  bool negatives_too;
  Refusal refuse;

  NdPositions(const Device& device, const IndexIn& in, const Shape& x, int axes, bool negatives_too)
      : ids(in), axes(axes), sizes{}, negatives_too(negatives_too), refuse(device) {
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
#endif

// The last axis of Index holds coordinates along the first axes of X; each names a slab of the rest of X.
struct NdIndex {
  IndexIn index;
  Shape x;
  int axes;                // coordinates of one slab
  int64_t slabs, width;    // slabs named; elements of one
  bool negatives_too;      // whether negative coordinates count from the end

  NdIndex(const KernelInit& init, const Shape& x, bool negatives_too)
      : index(init, "Index"), x(x), negatives_too(negatives_too) {
    const Shape& shape = index.shape();
    int last = shape.rank() - 1;
    axes = static_cast<int>(shape[last]), slabs = shape.numel(0, last);
    width = x.numel(axes, x.rank());
  }

  void refuse(int64_t value, int64_t at) const {
    int axis = static_cast<int>(at % axes);
    int64_t size = x[axis], low = negatives_too ? -size : 0;
    fail<OpError>("Index has ", value, " for axis ", axis, ": X has ", size, " there, so positions run from ", low,
                  " to ", size - 1);
  }
#ifdef PM_GPU
  NdPositions positions(const Device& device) const { return {device, index, x, axes, negatives_too}; }
  int64_t length() const { return x.numel(0, axes); }  // slabs of X
#else
  void check() const {
    for (int64_t i = 0, n = slabs * axes; i < n; ++i) {
      int axis = static_cast<int>(i % axes);
      int64_t size = x[axis], low = negatives_too ? -size : 0;
      if (index[i] < low || index[i] >= size) refuse(index[i], i);
    }
  }

  // Where in X the slab begins.
  int64_t operator[](int64_t slab) const {
    int64_t at = 0;
    for (int axis = 0; axis < axes; ++axis) {
      int64_t j = index[slab * axes + axis];
      at = at * x[axis] + (j < 0 ? j + x[axis] : j);
    }
    return at * width;
  }
#endif
};

// Index's dimensions without the last, then those of X that it does not name.
inline Shape nd_picked_shape(const InferContext& c, const Shape& x) {
  require_index(c, "Index");
  const Shape& index = c.shape("Index");
  require<ShapeError>(index.rank() > 0, "Index has no dimensions; its last one holds coordinates");
  int64_t axes = index[index.rank() - 1];
  require<ShapeError>(axes <= x.rank(), "Index has shape ", index.str(), ", ", axes, " coordinates, but X has shape ",
                      x.str());
  require<ShapeError>(axes >= 0, "Index has shape ", index.str(), ": how many coordinates it holds must be known");
  Shape out;
  for (int i = 0; i + 1 < index.rank(); ++i) out.push_back(index[i]);
  for (int i = static_cast<int>(axes); i < x.rank(); ++i) out.push_back(x[i]);
  return out;
}

}  // namespace paddle_mini

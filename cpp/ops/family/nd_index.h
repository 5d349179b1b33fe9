// Positions in a tensor given by several coordinates each: gather_nd and scatter_nd_add.
#pragma once

#include "ops/family/slabs.h"

namespace paddle_mini {

// The last axis of Index contains coordinates along the first axes of X; each tuple selects a slab of the other axes.
struct NdIndex {
  IndexIn index;
  Shape x;
  int axes;  // coordinates per slab
  int64_t outer = 1, picked, length, width;
  bool negatives_too;  // whether negative coordinates count from the end

  NdIndex(const KernelInit& init, const Shape& x, bool negatives_too)
      : index(init, "Index"), x(x), negatives_too(negatives_too) {
    const Shape& shape = index.shape();
    int last = shape.rank() - 1;
    axes = static_cast<int>(shape[last]), picked = shape.numel(0, last);
    length = x.numel(0, axes), width = x.numel(axes, x.rank());
  }

  void refuse(int64_t value, int64_t at) const {
    int axis = static_cast<int>(at % axes);
    int64_t size = x[axis], low = negatives_too ? -size : 0;
    fail<OpError>("Index has ", value, " for axis ", axis, ": X has ", size, " elements, so a position must be from ",
                  low, " to ", size - 1);
  }
  // On a CPU:
  int64_t first_outside() const;
  template <class F>
  void each(int64_t begin, int64_t end, F f) const;
};

// Index's dimensions without the last, then those of X without the indexed ones.
inline Shape nd_picked_shape(const InferContext& c, const Shape& x) {
  require_index(c, "Index");
  const Shape& index = c.shape("Index");
  require<ShapeError>(index.rank() > 0, "Index has no dimensions; the last one must hold coordinates");
  int64_t axes = index[index.rank() - 1];
  require<ShapeError>(axes <= x.rank(), "Index has shape ", index.str(), ", ", axes, " coordinates, but X has shape ",
                      x.str());
  require<ShapeError>(axes >= 0, "Index has shape ", index.str(),
                      ": the number of coordinates, its last dimension, must be known");
  Shape out;
  for (int i = 0; i + 1 < index.rank(); ++i) out.push_back(index[i]);
  for (int i = static_cast<int>(axes); i < x.rank(); ++i) out.push_back(x[i]);
  return out;
}

}  // namespace paddle_mini

#include PM_FAMILY(nd_index)

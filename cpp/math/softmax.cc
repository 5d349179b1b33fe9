// Geometry of softmax along an axis.
#include "math/softmax.h"

namespace paddle_mini {

Softmax::Softmax(const Shape& x, int axis) {
  if (x.rank() == 0) return;
  outer_ = x.numel(0, axis);
  size_ = x[axis];
  inner_ = x.numel(axis + 1, x.rank());
}

}  // namespace paddle_mini

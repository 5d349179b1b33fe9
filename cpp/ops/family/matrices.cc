// Shapes of the operators on matrices in the last two axes.
#include "ops/family/matrices.h"

namespace paddle_mini {

void require_matrices(const InferContext& c, const char* port) {
  require<ShapeError>(c.shape(port).rank() >= 2, port, " has shape ", c.shape(port).str(),
                      ", its last two axes must be matrices");
}

void require_square(const InferContext& c, const char* port) {
  const Shape& x = c.shape(port);
  bool square = x.rank() >= 2 && dims_agree(x[x.rank() - 2], x[x.rank() - 1]);
  require<ShapeError>(square, port, " has shape ", x.str(), ", its last two axes must be square matrices");
}

Shape batch_of(const Shape& shape) {
  Shape batch;
  for (int i = 0; i + 2 < shape.rank(); ++i) batch.push_back(shape[i]);
  return batch;
}

Shape matrices_shape(Shape batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

std::vector<int64_t> broadcast_items(const Shape& operand_batch, const Shape& batch) {
  std::vector<int64_t> items(static_cast<size_t>(batch.numel()));
  int ahead = batch.rank() - operand_batch.rank();
  for (size_t item = 0; item < items.size(); ++item) {
    auto rest = static_cast<int64_t>(item);
    int64_t step = 1;
    for (int axis = batch.rank() - 1; axis >= ahead; --axis) {
      int64_t size = operand_batch[axis - ahead];
      if (size != 1) items[item] += rest % batch[axis] * step;
      rest /= batch[axis], step *= size;
    }
  }
  return items;
}

}  // namespace paddle_mini

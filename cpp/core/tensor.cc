// Making tensors.
#include "core/tensor.h"

namespace paddle_mini {

Tensor new_tensor(DType dtype, const Shape& shape) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.memory = allocate(tensor.bytes());
  tensor.data = tensor.memory.get();
  return tensor;
}

}  // namespace paddle_mini

// Tensor: dtype, shape and a pointer into memory it shares. It has no methods that compute.
#pragma once

#include <memory>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/place.h"
#include "core/shape.h"

namespace paddle_mini {

class Accelerator;

// Sequence boundaries, one list of offsets a level: [[0, 2, 5]] is two sequences of 2 and 3 rows.
using Lod = std::vector<std::vector<int64_t>>;

struct Tensor {
  DType dtype = DType::Float32;
  Shape shape;
  void* data = nullptr;           // nullptr: no value yet
  std::shared_ptr<void> memory;   // what `data` points into; empty when somebody else keeps it alive
  Lod lod;
  Accelerator* device = nullptr;  // whose memory `data` points into; nullptr: the host's

  size_t bytes() const { return static_cast<size_t>(shape.numel()) * size_of(dtype); }

  template <class T>
  T* as() const {
    require<ShapeError>(dtype == dtype_of<T>::value, "tensor is ", name_of(dtype), ", expected ",
                        name_of(dtype_of<T>::value));
    return static_cast<T*>(data);
  }
};

// A tensor with memory of its own, not initialised; of the host, or of `device`.
Tensor new_tensor(DType dtype, const Shape& shape, Accelerator* device = nullptr);
// Copies all bytes; both have as many. The bytes may lie on any devices; returns when it is done.
void copy_bytes(const Tensor& from, const Tensor& to);
Tensor on_host(const Tensor& tensor);  // itself, or a copy where it lies on a device
Place place_of(const Tensor& tensor);

}  // namespace paddle_mini

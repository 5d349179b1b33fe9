// Tensor: dtype, shape and a pointer into shared memory. It has no compute methods.
#pragma once

#include <memory>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/place.h"
#include "core/shape.h"

namespace paddle_mini {

class Device;

// Sequence boundaries: one list of offsets per level. [[0, 2, 5]] is two sequences of 2 and 3 rows.
using Lod = std::vector<std::vector<int64_t>>;

struct Tensor {
  DType dtype = DType::Float32;
  Shape shape;
  void* data = nullptr;           // nullptr: no value yet
  std::shared_ptr<void> memory;   // the owner of `data`; empty if it is owned elsewhere
  Lod lod;
  Device* device = nullptr;  // the device of `data`; nullptr: the host

  size_t bytes() const { return static_cast<size_t>(shape.numel()) * size_of(dtype); }

  template <class T>
  T* as() const {
    require<ShapeError>(dtype == dtype_of<T>::value, "tensor is ", name_of(dtype), ", expected ",
                        name_of(dtype_of<T>::value));
    return static_cast<T*>(data);
  }
};

// A tensor with its own uninitialised memory, on the host or on `device`.
Tensor new_tensor(DType dtype, const Shape& shape, Device* device = nullptr);
// Copies all bytes between tensors of equal size, on any devices. Blocks until it is done.
void copy_bytes(const Tensor& from, const Tensor& to);
Tensor on_host(const Tensor& tensor);  // the tensor itself, or a copy if it is on a device
Place place_of(const Tensor& tensor);
// OpError if a bool of a tensor on the host has another byte than 0 or 1, for which operators would have no common meaning.
// `name`: of what comes from outside; "": a tensor in a file.
void require_bools(const Tensor& tensor, const std::string& name);

}  // namespace paddle_mini

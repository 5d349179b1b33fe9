// Reads elements of a parameter as T, whatever its storage type.
#pragma once

#include <algorithm>

#include "core/kernel.h"
#include "math/cpu/half_conversion.h"

namespace paddle_mini {

template <class T>
class ParamReader {
 public:
  explicit ParamReader(KernelInit& init)
      : tensor_(init.input("Param")->tensor), block_(init, is_plain() ? 0 : kBlock) {}
  bool converts() const { return !is_plain(); }
  int64_t numel() const { return tensor_.shape.numel(); }

  // How many of `count` one read returns: converted elements stay in the L1 cache.
  int64_t most(int64_t count) const { return is_plain() ? count : std::min(count, kBlock); }

  const T* read(int64_t at, int64_t count) {
    if constexpr (std::is_same_v<T, float>) {
      if (tensor_.dtype == DType::Float16) return convert(static_cast<const Float16*>(tensor_.data) + at, count);
      if (tensor_.dtype == DType::BFloat16) return convert(static_cast<const BFloat16*>(tensor_.data) + at, count);
    }
    return static_cast<const T*>(tensor_.data) + at;
  }

 private:
  static constexpr int64_t kBlock = 1024;
  bool is_plain() const { return tensor_.dtype == dtype_of<T>::value; }

  template <class Half>
  const T* convert(const Half* from, int64_t count) {
    to_floats(count, from, block_.data());
    return block_.data();
  }

  const Tensor& tensor_;
  Scratch<T> block_;
};

}  // namespace paddle_mini

// ScalarArg on a GPU: reads the tensor in the kernel.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

template <class T>
class ScalarArg {
 public:
  ScalarArg(T number) : number_(number) {}
  ScalarArg(const In<T>& in, int64_t at = 0) : ScalarArg(in.data() + at, dtype_of<T>::value) {}
  ScalarArg(const Out<T>& out) : ScalarArg(out.data(), dtype_of<T>::value) {}
  ScalarArg(const NumberIn& in) : ScalarArg(in.data(), in.wide() ? DType::Float64 : DType::Float32) {}
  ScalarArg(const IndexIn& in) : ScalarArg(in.data(), in.wide() ? DType::Int64 : DType::Int32) {}

  PM_HD T operator()() const {
    if (!at_) return number_;
    if (dtype_ == dtype_of<T>::value) return *static_cast<const T*>(at_);
    if (dtype_ == DType::Float64) return static_cast<T>(*static_cast<const double*>(at_));
    if (dtype_ == DType::Float32) return static_cast<T>(*static_cast<const float*>(at_));
    if (dtype_ == DType::Int64) return static_cast<T>(*static_cast<const int64_t*>(at_));
    return static_cast<T>(*static_cast<const int32_t*>(at_));
  }

 private:
  ScalarArg(const void* at, DType dtype) : at_(at), dtype_(dtype) {}

  const void* at_ = nullptr;  // nullptr: use number_
  DType dtype_ = dtype_of<T>::value;
  T number_{};
};

}  // namespace paddle_mini

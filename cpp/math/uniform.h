// One number for all elements, which a tensor may hold: on a GPU it is read where the functor runs, so that the host
// need not wait for it.
#pragma once

#include "core/kernel.h"
#include "core/target.h"

namespace paddle_mini {

template <class T>
class Uniform {
 public:
  Uniform(T number) : number_(number) {}
#ifdef PM_GPU
  Uniform(const In<T>& in, int64_t at = 0) : Uniform(in.data() + at, dtype_of<T>::value) {}
  Uniform(const Out<T>& out) : Uniform(out.data(), dtype_of<T>::value) {}
  Uniform(const NumberIn& in) : Uniform(in.data(), in.wide() ? DType::Float64 : DType::Float32) {}
  Uniform(const IndexIn& in) : Uniform(in.data(), in.wide() ? DType::Int64 : DType::Int32) {}

  PM_HD T operator()() const {
    if (!at_) return number_;
    if (dtype_ == dtype_of<T>::value) return *static_cast<const T*>(at_);
    if (dtype_ == DType::Float64) return static_cast<T>(*static_cast<const double*>(at_));
    if (dtype_ == DType::Float32) return static_cast<T>(*static_cast<const float*>(at_));
    if (dtype_ == DType::Int64) return static_cast<T>(*static_cast<const int64_t*>(at_));
    return static_cast<T>(*static_cast<const int32_t*>(at_));
  }

 private:
  Uniform(const void* at, DType dtype) : at_(at), dtype_(dtype) {}

  const void* at_ = nullptr;  // none: the number
  DType dtype_ = dtype_of<T>::value;
  T number_{};
#else
  Uniform(const In<T>& in, int64_t at = 0) : number_(in[at]) {}
  Uniform(const Out<T>& out) : number_(out[0]) {}
  Uniform(const NumberIn& in) : number_(static_cast<T>(in[0])) {}
  Uniform(const IndexIn& in) : number_(static_cast<T>(in[0])) {}

  T operator()() const { return number_; }

 private:
  T number_;
#endif
};

// The tensor's where the program gives one.
template <class T, class Input>
Uniform<T> uniform_or(const Input& in, T otherwise) {
  return in ? Uniform<T>(in) : Uniform<T>(otherwise);
}

}  // namespace paddle_mini

// Uniform on a CPU: the tensor is read at once.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

template <class T>
class Uniform {
 public:
  Uniform(T number) : number_(number) {}
  Uniform(const In<T>& in, int64_t at = 0) : number_(in[at]) {}
  Uniform(const Out<T>& out) : number_(out[0]) {}
  Uniform(const NumberIn& in) : number_(static_cast<T>(in[0])) {}
  Uniform(const IndexIn& in) : number_(static_cast<T>(in[0])) {}

  T operator()() const { return number_; }

 private:
  T number_;
};

}  // namespace paddle_mini

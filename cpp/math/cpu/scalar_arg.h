// ScalarArg on a CPU: reads the tensor immediately.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

template <class T>
class ScalarArg {
 public:
  ScalarArg(T number) : number_(number) {}
  ScalarArg(const In<T>& in, int64_t at = 0) : number_(in[at]) {}
  ScalarArg(const Out<T>& out) : number_(out[0]) {}
  ScalarArg(const NumberIn& in) : number_(static_cast<T>(in[0])) {}
  ScalarArg(const IndexIn& in) : number_(static_cast<T>(in[0])) {}

  T operator()() const { return number_; }

 private:
  T number_;
};

}  // namespace paddle_mini

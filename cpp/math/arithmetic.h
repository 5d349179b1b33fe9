// Functors shared by many operators and loops.
#pragma once

#include "math/scalar_arg.h"

namespace paddle_mini {

struct Itself {
  template <class V>
  PM_HD V operator()(V v) const {
    return v;
  }
};

struct Plus {
  template <class V>
  PM_HD V operator()(V a, V b) const {
    return a + b;
  }
};

template <class T>
struct Times {
  T factor;
  template <class V>
  PM_HD V operator()(V v) const {
    return v * V(factor);
  }
};
// With a factor, which may be in a tensor.
template <class T>
struct TimesUniform {
  ScalarArg<T> factor;
  PM_HD Times<T> bind_scalars() const { return {factor()}; }
};

}  // namespace paddle_mini

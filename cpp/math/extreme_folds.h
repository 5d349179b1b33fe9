// Folds to the largest or smallest element, and the gradient that equal ones share: reduce_max, reduce_amax, ...
#pragma once

#include "math/extremes.h"

namespace paddle_mini {

struct Largest {
  template <class T>
  static T first() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <class T>
  T operator()(T a, T b) const { return maximum(a, b); }
};

struct Smallest {
  template <class T>
  static T first() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <class T>
  T operator()(T a, T b) const { return minimum(a, b); }
};

// X@GRAD[i] = Out@GRAD[j] / how many elements equal Out[j], where X[i] equals it; j is what i was reduced to.
template <class T>
struct SharedExtremeGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  AxisLoop loop;
  Scratch<int64_t> equals;

  explicit SharedExtremeGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        loop(fold_walks(x.shape(), fold_axes(init, x.shape()))), equals(init, out.numel()) {}

  void run(Device&) override {
    std::fill_n(equals.data(), equals.numel(), int64_t{0});
    int64_t block = loop.block();
    loop.each_block([&](int64_t at, int64_t from) {
      for (int64_t i = 0; i < block; ++i) equals[from + i] += x[at + i] == out[from + i];
    });
    loop.each_block([&](int64_t at, int64_t from) {
      for (int64_t i = 0; i < block; ++i) {
        bool extreme = x[at + i] == out[from + i];
        x_gradient[at + i] = extreme ? out_gradient[from + i] / static_cast<T>(equals[from + i]) : T(0);
      }
    });
  }
};

}  // namespace paddle_mini

// Folds to the largest or smallest element; equal elements share the gradient: reduce_max, reduce_amax, ...
#pragma once

#include "math/number.h"
#include "ops/family/extremes.h"

namespace paddle_mini {

struct Largest {
  template <class T>
  PM_HD static T first() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <class T>
  PM_HD T operator()(T a, T b) const {
    return maximum(a, b);
  }
};

struct Smallest {
  template <class T>
  PM_HD static T first() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <class T>
  PM_HD T operator()(T a, T b) const {
    return minimum(a, b);
  }
};

struct IsEqual {
  template <class T>
  PM_HD int64_t operator()(T x, T out) const {
    return x == out;
  }
};

struct ShareAmongEquals {
  template <class T>
  PM_HD T operator()(T x, T out, T gradient, int64_t equals) const {
    return x == out ? gradient / static_cast<T>(equals) : T(0);
  }
};

// X@GRAD[i] = Out@GRAD[j] / (number of elements equal to Out[j]) if X[i] equals Out[j], where i is reduced to j.
template <class T>
struct SharedExtremeGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  AxisFolds folds;
  Scratch<int64_t> equals;

  explicit SharedExtremeGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        folds(x.shape(), fold_axes(init, x.shape())), equals(init, out.numel()) {}

  void run(KernelContext& context) override {
    folds.fold(context, IsEqual{}, Plus{}, int64_t{0}, equals.data(), x.data(), out.data());
    folds.map(context, ShareAmongEquals{}, x_gradient.data(), x.data(), out.data(), out_gradient.data(), equals.data());
  }
};

}  // namespace paddle_mini

// frobenius_norm: Out = the root of the sum of X^2 over some axes
#include <cmath>

#include "ops/family/extremes.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

struct WideSquare {
  PM_HD double operator()(double v) const { return v * v; }
};

template <class T>
struct RootOf {
  const double* sums;
  T* out;
  PM_HD void operator()(int64_t i) const { out[i] = static_cast<T>(std::sqrt(sums[i])); }
};

template <class T>
struct FrobeniusKernel : Kernel {
  In<T> x;
  Out<T> out;
  AxisFolds folds;
  Scratch<double> sums;

  explicit FrobeniusKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), folds(x.shape(), fold_axes(init, x.shape())), sums(init, out.numel()) {}

  void run(KernelContext& context) override {
    folds.fold(context, WideSquare{}, Plus{}, 0.0, sums.data(), x.data());
    for_each_index(context, out.numel(), RootOf<T>{sums.data(), out.data()});
  }
};

struct ToSquares {
  template <class T>
  PM_HD T operator()(T x, T out, T gradient) const {
    return x / (out + T(1e-12)) * gradient;
  }
};

}  // namespace

void define_frobenius_norm(OpTable& ops) {
  ops.add(fold_reduction("frobenius_norm")
              .doc("Out = the square root of the sum of X^2 over the axes in `dim`.")
              .on_gpu()
              .kernels<FrobeniusKernel, float, double>());
  ops.add(ops.gradient_of("frobenius_norm")
              .doc("X@GRAD = Out@GRAD X / (Out + 1e-12).")
              .kernels<FoldGradKernel<ToSquares>::For, float, double>());
}

}  // namespace paddle_mini

// frobenius_norm: Out = the root of the sum of X^2 over some axes
#include <cmath>

#include "math/extremes.h"

namespace paddle_mini {
namespace {

template <class T>
struct FrobeniusKernel : Kernel {
  In<T> x;
  Out<T> out;
  AxisLoop loop;
  Scratch<double> sums;

  explicit FrobeniusKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), loop(fold_walks(x.shape(), fold_axes(init, x.shape()))),
        sums(init, out.numel()) {}

  void run(Device&) override {
    std::fill_n(sums.data(), out.numel(), 0.0);
    auto add_square = [](double total, T v) { return total + static_cast<double>(v) * static_cast<double>(v); };
    loop.fold(add_square, x.data(), sums.data());
    for (int64_t i = 0; i < out.numel(); ++i) out[i] = static_cast<T>(std::sqrt(sums[i]));
  }
};

struct ToSquares {
  template <class T>
  T operator()(T x, T out, T gradient) const { return x / (out + T(1e-12)) * gradient; }
};

}  // namespace

void define_frobenius_norm(OpTable& ops) {
  ops.add(fold_reduction("frobenius_norm", "frobenius_norm_grad")
              .doc("The root of the sum of X^2 over the axes in `dim`.")
              .kernels<FrobeniusKernel, float, double>());
  ops.add(fold_gradient("frobenius_norm_grad")
              .doc("X@GRAD = Out@GRAD X / (Out + 1e-12).")
              .kernels<FoldGradKernel<ToSquares>::For, float, double>());
}

}  // namespace paddle_mini

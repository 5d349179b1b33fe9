// matrix_power: Out = X^n, products of matrices
#include <cstdlib>

#include "math/cpu/matrix_functions.h"
#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

// out = a^power, power >= 0, by squaring; other sides of products are work memory of the size of a.
template <class T>
std::vector<T> power_of(const T* a, int64_t n, int64_t power) {
  auto size = static_cast<size_t>(n * n);
  std::vector<T> out(size), square(a, a + size), work(size);
  for (int64_t i = 0; i < n; ++i) out[static_cast<size_t>(i * n + i)] = T(1);
  for (; power > 0; power /= 2) {
    if (power % 2 == 1) {
      multiply(out.data(), square.data(), n, n, n, {}, T(1), work.data());
      out.swap(work);
    }
    multiply(square.data(), square.data(), n, n, n, {}, T(1), work.data());
    square.swap(work);
  }
  return out;
}

// The matrix whose powers are computed: X, or its inverse for a negative n. Empty if X is singular.
template <class T>
std::vector<T> base_of(const T* x, int64_t n, int64_t power) {
  std::vector<T> base(x, x + n * n);
  if (power < 0 && !invert(x, n, base.data())) base.clear();
  return base;
}

template <class T>
struct MatrixPowerKernel : Kernel {
  In<T> x;
  Out<T> out;
  Matrices matrices;
  int64_t power;
  Scratch<T> powers;  // because a singular matrix is refused before anything is written

  explicit MatrixPowerKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), matrices(x.shape()), power(init.attr<int32_t>("n")), powers(init, x.numel()) {}

  void run(KernelContext& context) override {
    int64_t n = matrices.rows, size = matrices.size();
    require_each(context, matrices, "X", "is singular, it has no negative powers", [&](int64_t i) {
      std::vector<T> base = base_of(x.data() + i * size, n, power);
      if (base.empty() && size > 0) return false;
      std::vector<T> found = power_of(base.data(), n, std::abs(power));
      std::copy(found.begin(), found.end(), powers.data() + i * size);
      return true;
    });
    std::copy_n(powers.data(), x.numel(), out.data());
  }
};

template <class T>
struct MatrixPowerGradKernel : Kernel {
  In<T> x, out_gradient;
  Out<T> x_gradient;
  Matrices matrices;
  int64_t power;
  Scratch<T> gradients;

  explicit MatrixPowerGradKernel(KernelInit& init)
      : x(init, "X"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), matrices(x.shape()),
        power(init.attr<int32_t>("n")), gradients(init, x.numel()) {}

  void run(KernelContext& context) override {
    int64_t size = matrices.size();
    require_each(context, matrices, "X", "is singular, it has no negative powers", [&](int64_t i) {
      std::vector<T> base = base_of(x.data() + i * size, matrices.rows, power);
      if (base.empty() && size > 0) return false;
      gradient_of(base, out_gradient.data() + i * size, gradients.data() + i * size);
      return true;
    });
    std::copy_n(gradients.data(), x.numel(), x_gradient.data());
  }

  // The sum of (B^T)^k G (B^T)^(p - 1 - k) over k < p; for an inverse B that is the gradient of B, and that of X is -B^T
  // times it times B^T.
  void gradient_of(const std::vector<T>& base, const T* gradient, T* to) const {
    int64_t n = matrices.rows, p = std::abs(power);
    std::vector<T> sum(base.size()), work(base.size()), right(base.size());
    std::vector<T> left(gradient, gradient + base.size());  // (B^T)^k G
    for (int64_t k = 0; k < p; ++k) {  // by Horner's rule: sum = sum B^T + (B^T)^k G
      multiply(sum.data(), base.data(), n, n, n, {false, true}, T(1), work.data());
      for (size_t e = 0; e < sum.size(); ++e) sum[e] = work[e] + left[e];
      multiply(base.data(), left.data(), n, n, n, {true, false}, T(1), work.data());
      left.swap(work);
    }
    if (power < 0) {
      multiply(sum.data(), base.data(), n, n, n, {false, true}, T(1), right.data());
      multiply(base.data(), right.data(), n, n, n, {true, false}, T(-1), sum.data());
    }
    std::copy(sum.begin(), sum.end(), to);
  }
};

}  // namespace

void define_matrix_power(OpTable& ops) {
  ops.add(OpSchema("matrix_power")
              .doc("Out = X^n, the product of n times each matrix of X; of its inverse for a negative n, for which a "
                   "singular "
                   "matrix is an error; for 0 the identity.")
              .required_attr("n", AttrType::Int, "the power", between(-100000, 100000))
              .input("X", "[..., m, m]")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_square(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient("matrix_power_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .checks_data()
              .cpu_only("its decomposition is a sequence of small steps")
              .kernels<MatrixPowerKernel, float, double>());
  ops.add(ops.gradient_of("matrix_power")
              .doc("X@GRAD = the sum of (X^T)^k Out@GRAD (X^T)^(n-1-k) over k < n; for a negative n with the inverse B "
                   "of X in "
                   "place of X, and -B^T times it times B^T.")
              .shape_only("Out")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_square(c, "X");
                require_same_dtype(c, "X", "Out@GRAD");
                require_same_shape(c, "X", "Out@GRAD");
                require_same_shape(c, "X", "Out");
                c.set_output("X@GRAD", c.input("X"));
              })
              .kernels<MatrixPowerGradKernel, float, double>());
}

}  // namespace paddle_mini

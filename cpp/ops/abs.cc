// abs: Out = |X|
#include "ops/family/of_complex.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Abs {
  template <class V>
  PM_HD V operator()(V x) const {
    return abs(x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient * sign(x);
  }
};

struct Modulus {
  template <class T>
  PM_HD T operator()(Complex<T> x) const {
    return abs(x);
  }
  template <class T>
  PM_HD Complex<T> operator()(Complex<T> x, T gradient) const {
    T length = abs(x);
    return length == T(0) ? Complex<T>(T(0)) : x / length * gradient;
  }
};

}  // namespace

void define_abs(OpTable& ops) {
  ops.add(with_complex<ComplexMapKernel<Modulus>::For>(
      unary("abs")
          .doc("Out = |X|, element by element; of complex numbers, which gives real ones: the square root of the sum "
               "of the squares of the parts.")
          .infer(infer_parts_of_complex)
          .gradient("abs_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
          .kernels<UnaryKernel<Abs>::For, float, double, int32_t, int64_t>()));
  ops.add(with_complex<PartsGradKernel<Modulus>::For>(
      unary_gradient(ops, "abs")
          .doc("X@GRAD = Out@GRAD sign(X): 0 where X is 0. Of complex numbers, sign(X) = X / |X|.")
          .infer(infer_gradient_of_parts)
          .kernels<UnaryGradKernel<Abs, Saved::X>::For, float, double>()));
  add_unary_second<Abs, Saved::X>(ops, "abs");
}

}  // namespace paddle_mini

// angle: Out = the angle of X in the complex plane, of a real number 0 or pi
#include "ops/family/of_complex.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Angle {
  template <class V>
  PM_HD V operator()(V x) const {
    return select(x < V(0), V(3.14159265358979323846), V(0));
  }
  template <class V>
  PM_HD V operator()(V, V) const {
    return V(0);
  }
};

struct Argument {
  template <class T>
  PM_HD T operator()(Complex<T> x) const {
    return std::atan2(x.imag, x.real);
  }
  template <class T>
  PM_HD Complex<T> operator()(Complex<T> x, T gradient) const {
    T square = x.real * x.real + x.imag * x.imag;
    if (square == T(0)) return Complex<T>(T(0));
    return Complex<T>(-gradient * x.imag / square, gradient * x.real / square);
  }
};

}  // namespace

void define_angle(OpTable& ops) {
  ops.add(with_complex<ComplexMapKernel<Argument>::For>(
      unary("angle")
          .doc("Out = the angle of X in the complex plane, from -pi to pi; of a real number: pi where X < 0, else 0.")
          .infer(infer_parts_of_complex)
          .gradient("angle_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
          .kernels<UnaryKernel<Angle>::For, float, double>()));
  ops.add(with_complex<PartsGradKernel<Argument>::For>(
      unary_gradient(ops, "angle")
          .doc("X@GRAD = Out@GRAD (-Im X + i Re X) / |X|^2, and 0 where X is 0; of real numbers 0.")
          .infer(infer_gradient_of_parts)
          .kernels<UnaryGradKernel<Angle, Saved::X>::For, float, double>()));
  add_unary_second<Angle, Saved::X>(ops, "angle");
}

}  // namespace paddle_mini

// erfinv: Out = the inverse of the error function of X
#include <limits>

#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

// Winitzki's approximation, which is exact to 2e-3, and three steps of Halley's method; towards 1 on erfc, because the
// difference of 1 and erf would lose digits.
PM_HD inline double inverse_of_erf(double y) {
  double size = std::fabs(y);
  if (!(size < 1)) {
    if (size == 1) return y * std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
  }
  constexpr double a = 0.147, pi = 3.14159265358979323846;
  double rest = std::log1p(-size * size), half = 2 / (pi * a) + rest / 2;
  double z = std::sqrt(std::sqrt(half * half - rest / a) - half);
  for (int step = 0; step < 3; ++step) {
    double error = size < 0.5 ? std::erf(z) - size : (1 - size) - std::erfc(z);
    double newton = error / (2 / std::sqrt(pi) * std::exp(-z * z));
    z -= newton / (1 + z * newton);
  }
  return std::copysign(z, y);
}

struct ErfInverse {
  template <class V>
  PM_HD V operator()(V x) const {
    return each_lane(x, [](auto number) { return static_cast<decltype(number)>(inverse_of_erf(number)); });
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return gradient * V(0.8862269254527580) * exp(out * out);
  }
};

}  // namespace

void define_erfinv(OpTable& ops) {
  add_unary<ErfInverse, Saved::Out>(
      ops, unary("erfinv").doc("Out = the number whose error function is X, element by element; NaN outside [-1, 1]."),
      "X@GRAD = Out@GRAD sqrt(pi) / 2 exp(Out^2).");
}

}  // namespace paddle_mini

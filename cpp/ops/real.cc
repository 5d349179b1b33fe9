// real: Out = the real parts of complex numbers
#include "ops/family/part_of_complex.h"

namespace paddle_mini {
namespace {

struct RealPart {
  template <class T>
  PM_HD T operator()(Complex<T> x) const {
    return x.real;
  }
};

struct AsRealPart {
  template <class T>
  PM_HD Complex<T> operator()(T gradient) const {
    return Complex<T>(gradient);
  }
};

}  // namespace

void define_real(OpTable& ops) { define_part_of_complex<RealPart, AsRealPart>(ops, "real", "real"); }

}  // namespace paddle_mini

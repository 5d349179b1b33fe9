// imag: Out = the imaginary parts of complex numbers
#include "ops/family/part_of_complex.h"

namespace paddle_mini {
namespace {

struct ImagPart {
  template <class T>
  PM_HD T operator()(Complex<T> x) const {
    return x.imag;
  }
};

struct AsImagPart {
  template <class T>
  PM_HD Complex<T> operator()(T gradient) const {
    return Complex<T>(T(0), gradient);
  }
};

}  // namespace

void define_imag(OpTable& ops) { define_part_of_complex<ImagPart, AsImagPart>(ops, "imag", "imaginary"); }

}  // namespace paddle_mini

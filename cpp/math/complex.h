// Complex<T>: a complex number with the memory of std::complex<T>, for functors and kernels on every device. Products and
// quotients are those of the definition: std::complex repairs infinities, which takes several times as long.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

#include "core/dtype.h"
#include "core/target.h"

namespace paddle_mini {

template <class T>
struct Complex {
  T real, imag;

  Complex() = default;
  PM_HD constexpr explicit Complex(T real, T imag = T(0)) : real(real), imag(imag) {}

  PM_HD Complex& operator+=(Complex other) {
    real += other.real, imag += other.imag;
    return *this;
  }
};

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<Complex<T>> = true;

// The type of the parts of a complex number; other numbers are themselves.
template <class T>
struct real_type {
  using type = T;
};
template <class T>
struct real_type<Complex<T>> {
  using type = T;
};
template <class T>
using real_part_of = typename real_type<T>::type;

// clang-format off: tables
template <class T> PM_HD Complex<T> operator+(Complex<T> a, Complex<T> b) { return Complex<T>(a.real + b.real, a.imag + b.imag); }
template <class T> PM_HD Complex<T> operator-(Complex<T> a, Complex<T> b) { return Complex<T>(a.real - b.real, a.imag - b.imag); }
template <class T> PM_HD Complex<T> operator-(Complex<T> a) { return Complex<T>(-a.real, -a.imag); }
template <class T> PM_HD Complex<T> operator*(Complex<T> a, T b) { return Complex<T>(a.real * b, a.imag * b); }
template <class T> PM_HD Complex<T> operator/(Complex<T> a, T b) { return Complex<T>(a.real / b, a.imag / b); }
template <class T> PM_HD bool operator==(Complex<T> a, Complex<T> b) { return a.real == b.real && a.imag == b.imag; }
template <class T> PM_HD bool operator!=(Complex<T> a, Complex<T> b) { return !(a == b); }
// clang-format on

template <class T>
PM_HD Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return Complex<T>(a.real * b.real - a.imag * b.imag, a.imag * b.real + a.real * b.imag);
}

// Smith's division (1962): the squares of large or small parts neither overflow nor underflow.
template <class T>
PM_HD Complex<T> operator/(Complex<T> a, Complex<T> b) {
  if (std::abs(b.real) >= std::abs(b.imag)) {
    T ratio = b.imag / b.real, length = b.real + b.imag * ratio;
    // For b = 0 the parts are divided by 0, not by NaN.
    if (b.real == T(0)) return Complex<T>(a.real / std::abs(b.real), a.imag / std::abs(b.real));
    return Complex<T>((a.real + a.imag * ratio) / length, (a.imag - a.real * ratio) / length);
  }
  T ratio = b.real / b.imag, length = b.imag + b.real * ratio;
  return Complex<T>((a.real * ratio + a.imag) / length, (a.imag * ratio - a.real) / length);
}

// The complex conjugate, by which gradients are multiplied; real numbers are their own.
template <class T>
PM_HD Complex<T> conj(Complex<T> a) {
  return Complex<T>(a.real, -a.imag);
}
template <class V>
PM_HD V conj(V a) {
  return a;
}

template <class T>
PM_HD T abs(Complex<T> a) {
  return std::hypot(a.real, a.imag);
}

// Functions of the standard library; f takes and returns a std::complex<T>.
template <class T, class F>
Complex<T> each_lane(Complex<T> a, F f) {
  std::complex<T> result = f(std::complex<T>(a.real, a.imag));
  return Complex<T>(result.real(), result.imag());
}
template <class T>
Complex<T> exp(Complex<T> a) {
  return each_lane(a, [](auto number) { return std::exp(number); });
}
template <class T>
Complex<T> log(Complex<T> a) {
  return each_lane(a, [](auto number) { return std::log(number); });
}
template <class T>
Complex<T> sqrt(Complex<T> a) {
  return each_lane(a, [](auto number) { return std::sqrt(number); });
}

}  // namespace paddle_mini

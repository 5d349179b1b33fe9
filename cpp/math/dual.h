// Dual<V>: a number and its derivative. A functor that is called with dual numbers also gives the derivative of its
// result (forward-mode differentiation), so a formula need not be differentiated by hand.
#pragma once

#include "math/power.h"
#include "math/trigonometry.h"

namespace paddle_mini {

template <class V>
struct Dual {
  V value, slope;

  PM_HD Dual(V the_value, V the_slope) : value(the_value), slope(the_slope) {}
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  PM_HD explicit Dual(N constant) : value(V(constant)), slope(V(0)) {}
};

template <class V>
struct number_type<Dual<V>> {
  using type = number_of<V>;
};

// clang-format off: a table of rules
template <class V> PM_HD Dual<V> operator-(Dual<V> a) { return {-a.value, -a.slope}; }
template <class V> PM_HD Dual<V> operator+(Dual<V> a, Dual<V> b) { return {a.value + b.value, a.slope + b.slope}; }
template <class V> PM_HD Dual<V> operator-(Dual<V> a, Dual<V> b) { return {a.value - b.value, a.slope - b.slope}; }
template <class V> PM_HD Dual<V> operator*(Dual<V> a, Dual<V> b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
template <class V> PM_HD Dual<V> operator/(Dual<V> a, Dual<V> b) { V q = a.value / b.value; return {q, (a.slope - q * b.slope) / b.value}; }

template <class V> PM_HD auto operator<(Dual<V> a, Dual<V> b) { return a.value < b.value; }
template <class V> PM_HD auto operator>(Dual<V> a, Dual<V> b) { return a.value > b.value; }
template <class V> PM_HD auto operator<=(Dual<V> a, Dual<V> b) { return a.value <= b.value; }
template <class V> PM_HD auto operator==(Dual<V> a, Dual<V> b) { return a.value == b.value; }
template <class M, class V>
PM_HD std::enable_if_t<!std::is_same_v<M, bool>, Dual<V>> select(M m, Dual<V> yes, Dual<V> no) {
  return {select(m, yes.value, no.value), select(m, yes.slope, no.slope)};
}

template <class V> PM_HD Dual<V> exp(Dual<V> a) { V e = exp(a.value); return {e, e * a.slope}; }
template <class V> PM_HD Dual<V> log(Dual<V> a) { return {log(a.value), a.slope / a.value}; }
template <class V> PM_HD Dual<V> sqrt(Dual<V> a) { V r = sqrt(a.value); return {r, V(number_of<V>(0.5)) * a.slope / r}; }
template <class V> PM_HD Dual<V> tanh(Dual<V> a) { V t = tanh(a.value); return {t, (V(1) - t * t) * a.slope}; }
template <class V> PM_HD Dual<V> abs(Dual<V> a) { return {abs(a.value), sign(a.value) * a.slope}; }
template <class V> PM_HD Dual<V> sine(Dual<V> a) { return {sine(a.value), cosine(a.value) * a.slope}; }
template <class V> PM_HD Dual<V> cosine(Dual<V> a) { return {cosine(a.value), -sine(a.value) * a.slope}; }
template <class V> PM_HD Dual<V> hyperbolic_sine(Dual<V> a) { return {hyperbolic_sine(a.value), hyperbolic_cosine(a.value) * a.slope}; }
template <class V> PM_HD Dual<V> hyperbolic_cosine(Dual<V> a) { return {hyperbolic_cosine(a.value), hyperbolic_sine(a.value) * a.slope}; }
// clang-format on

// The exponent is a constant.
template <class V>
PM_HD Dual<V> power(Dual<V> a, Dual<V> b) {
  return {power(a.value, b.value), b.value * power(a.value, b.value - V(1)) * a.slope};
}

}  // namespace paddle_mini

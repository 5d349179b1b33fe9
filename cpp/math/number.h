// Scalar functions for functors: on a GPU the only ones; on a CPU in addition to those of Vec (math/vec.h).
#pragma once

#include <cmath>
#include <type_traits>

#include "core/target.h"

namespace paddle_mini {

// The element type of V, for constants: number_of<Vec<float>> is float.
template <class V>
struct number_type {
  using type = V;
};
template <class V>
using number_of = typename number_type<V>::type;

template <class T> PM_HD T select(bool m, T yes, T no) { return m ? yes : no; }

// NaN in either operand gives NaN, as in NumPy.
template <class T>
PM_HD std::enable_if_t<std::is_arithmetic_v<T>, T> maximum(T a, T b) {
  return a != a ? a : (a < b || b != b) ? b : a;
}
template <class T>
PM_HD std::enable_if_t<std::is_arithmetic_v<T>, T> minimum(T a, T b) {
  return a != a ? a : (b < a || b != b) ? b : a;
}

// 1, 0 or -1; NaN stays NaN.
template <class V>
PM_HD V sign(V a) {
  return select(a > V(0), V(1), select(a < V(0), V(-1), select(a == a, V(0), a)));
}

// Functions without a vector form.
template <class T, class F>
PM_HD std::enable_if_t<std::is_arithmetic_v<T>, T> each_lane(T a, F f) {
  return f(a);
}
template <class T, class F>
PM_HD std::enable_if_t<std::is_arithmetic_v<T>, T> each_lane(T a, T b, F f) {
  return f(a, b);
}

// a * b + c, rounded once.
PM_HD inline float multiply_add(float a, float b, float c) { return std::fma(a, b, c); }
PM_HD inline double multiply_add(double a, double b, double c) { return std::fma(a, b, c); }

using std::abs;
using std::exp;
using std::log;
using std::sqrt;
using std::tanh;

template <class T>
inline constexpr bool has_vec = std::is_same_v<T, float> || std::is_same_v<T, double>;

}  // namespace paddle_mini

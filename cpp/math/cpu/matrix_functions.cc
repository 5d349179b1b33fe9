// Functions of one matrix by Eigen's decompositions.
#include "math/cpu/matrix_functions.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <vector>

namespace paddle_mini {
namespace {

// Results are computed in Eigen's own memory, which is aligned: in other memory the order of its sums depends on the address.
// Eigen's templates take most of the time in which this file compiles, so each is instantiated as seldom as possible:
// transposed matrices are copies.
template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Read = Eigen::Map<const Matrix<T>>;

template <class T>
Matrix<T> copy_of(const T* a, int64_t rows, int64_t columns, bool transposed) {
  Matrix<T> copy = Read<T>(a, rows, columns);
  if (transposed) copy.transposeInPlace();
  return copy;
}

// A matrix with NaN is not refused: results are NaN then.
template <class T>
bool has_zero_pivot(const Eigen::PartialPivLU<Matrix<T>>& lu) {
  return (lu.matrixLU().diagonal().array() == T(0)).any();
}

template <class T>
void store(const Matrix<T>& from, T* to) {
  std::copy_n(from.data(), from.size(), to);
}

// out = a^-1 out for the lower or the upper triangle of a.
template <class T>
void solve_in_place(const Matrix<T>& a, bool upper, Matrix<T>& out) {
  if (upper) a.template triangularView<Eigen::Upper>().solveInPlace(out);
  else a.template triangularView<Eigen::Lower>().solveInPlace(out);
}

template <class T>
void multiply_parts(const T* a, const T* b, int64_t rows, int64_t inner, int64_t columns, Transposed transposed,
                    T scale, T* out) {
  Matrix<T> left = copy_of(a, transposed.a ? inner : rows, transposed.a ? rows : inner, transposed.a);
  Matrix<T> right = copy_of(b, transposed.b ? columns : inner, transposed.b ? inner : columns, transposed.b);
  Matrix<T> product = left * right;
  if (scale != T(1)) product *= scale;
  store(product, out);
}

// The same for complex numbers, as four products of real and imaginary parts.
template <class T>
void multiply_parts(const Complex<T>* a, const Complex<T>* b, int64_t rows, int64_t inner, int64_t columns,
                    Transposed transposed, Complex<T> scale, Complex<T>* out) {
  auto part = [](const Complex<T>* from, int64_t count, bool imaginary, bool negative) {
    std::vector<T> taken(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      T value = imaginary ? from[i].imag : from[i].real;
      taken[static_cast<size_t>(i)] = negative ? -value : value;
    }
    return taken;
  };
  std::vector<T> left[] = {part(a, rows * inner, false, false), part(a, rows * inner, true, transposed.a)};
  std::vector<T> right[] = {part(b, inner * columns, false, false), part(b, inner * columns, true, transposed.b)};
  std::vector<T> product(static_cast<size_t>(rows * columns));
  std::fill_n(out, rows * columns, Complex<T>(T(0)));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      multiply_parts(left[i].data(), right[j].data(), rows, inner, columns, transposed, T(1), product.data());
      for (int64_t at = 0; at < rows * columns; ++at) {
        T value = product[static_cast<size_t>(at)];
        if (i != j) out[at].imag += value;
        else out[at].real += i == 0 ? value : -value;
      }
    }
  }
  for (int64_t at = 0; at < rows * columns; ++at) out[at] = out[at] * scale;
}

}  // namespace

template <class T>
T Determinant<T>::value() const {
  return sign == T(0) ? T(0) : sign * std::exp(log);
}

template <class T>
Determinant<T> determinant_of(const T* a, int64_t n) {
  if (n == 0) return {T(1), T(0)};
  Eigen::PartialPivLU<Matrix<T>> lu(copy_of(a, n, n, false));
  Determinant<T> found{static_cast<T>(lu.permutationP().determinant()), T(0)};
  for (int64_t i = 0; i < n; ++i) {
    T pivot = lu.matrixLU()(i, i);
    found.sign *= pivot > T(0) ? T(1) : pivot < T(0) ? T(-1) : pivot;
    found.log += std::log(std::abs(pivot));
  }
  return found;
}

template <class T>
bool invert(const T* a, int64_t n, T* out) {
  Matrix<T> identity = Matrix<T>::Identity(n, n);
  return solve_system(a, n, identity.data(), n, false, out);
}

template <class T>
bool solve_system(const T* a, int64_t n, const T* b, int64_t columns, bool transposed, T* out) {
  if (n == 0) return true;
  Eigen::PartialPivLU<Matrix<T>> lu(copy_of(a, n, n, transposed));
  if (has_zero_pivot(lu)) return false;
  Matrix<T> result = lu.permutationP() * Read<T>(b, n, columns);
  lu.matrixLU().template triangularView<Eigen::UnitLower>().solveInPlace(result);
  solve_in_place<T>(lu.matrixLU(), true, result);
  store(result, out);
  return true;
}

template <class T>
bool solve_triangle(const T* a, int64_t n, const T* b, int64_t columns, Triangle triangle, T* out) {
  Matrix<T> matrix = copy_of(a, n, n, triangle.transposed);
  if (triangle.unit) matrix.diagonal().setOnes();
  else if ((matrix.diagonal().array() == T(0)).any()) return false;
  Matrix<T> result = Read<T>(b, n, columns);
  solve_in_place<T>(matrix, triangle.upper != triangle.transposed, result);
  store(result, out);
  return true;
}

template <class T>
bool cholesky_factor(const T* a, int64_t n, bool upper, T* out) {
  Eigen::LLT<Matrix<T>, Eigen::Lower> llt(copy_of(a, n, n, upper));
  Matrix<T> factor = llt.matrixL();
  if (upper) factor.transposeInPlace();
  store(factor, out);
  return llt.info() == Eigen::Success;
}

// With S = the lower triangle of L^T G with half of its diagonal: L^-T (S + S^T) L^-1 / 2 (Murray, Differentiation of the
// Cholesky decomposition, 2016).
template <class T>
void cholesky_gradient(const T* factor, const T* factor_gradient, int64_t n, bool upper, T* gradient) {
  Matrix<T> l = copy_of(factor, n, n, upper), g = copy_of(factor_gradient, n, n, upper), s(n, n), right(n, n);
  l.template triangularView<Eigen::StrictlyUpper>().setZero();
  multiply(l.data(), g.data(), n, n, n, {true, false}, T(1), s.data());
  s.template triangularView<Eigen::StrictlyUpper>().setZero();
  s.diagonal() *= T(0.5);
  Matrix<T> middle = (s + s.transpose()) * T(0.5);
  solve_triangle(l.data(), n, middle.data(), n, {false, true, false}, right.data());
  right.transposeInPlace();
  solve_triangle(l.data(), n, right.data(), n, {false, true, false}, middle.data());
  middle.transposeInPlace();
  store(middle, gradient);
}

template <class T>
void multiply(const T* a, const T* b, int64_t rows, int64_t inner, int64_t columns, Transposed transposed, T scale,
              T* out) {
  multiply_parts(a, b, rows, inner, columns, transposed, scale, out);
}

template <class T>
void qr_factors(const T* a, int64_t rows, int64_t columns, int64_t q_columns, T* q, int64_t r_rows, T* r) {
  if (rows == 0 || columns == 0) {
    if (q) Eigen::Map<Matrix<T>>(q, rows, q_columns).setIdentity();
    return;
  }
  Eigen::HouseholderQR<Matrix<T>> qr(copy_of(a, rows, columns, false));
  Eigen::Map<Matrix<T>>(r, r_rows, columns) = qr.matrixQR().topRows(r_rows).template triangularView<Eigen::Upper>();
  if (!q) return;
  Matrix<T> factor = Matrix<T>::Identity(rows, q_columns);
  factor.applyOnTheLeft(qr.householderQ());
  store(factor, q);
}

#define PM_MATRIX_FUNCTIONS(T)                                                                                    \
  template struct Determinant<T>;                                                                                 \
  template Determinant<T> determinant_of(const T*, int64_t);                                                      \
  template bool invert(const T*, int64_t, T*);                                                                    \
  template bool solve_system(const T*, int64_t, const T*, int64_t, bool, T*);                                     \
  template bool solve_triangle(const T*, int64_t, const T*, int64_t, Triangle, T*);                               \
  template bool cholesky_factor(const T*, int64_t, bool, T*);                                                     \
  template void cholesky_gradient(const T*, const T*, int64_t, bool, T*);                                         \
  template void qr_factors(const T*, int64_t, int64_t, int64_t, T*, int64_t, T*);                                 \
  template void multiply(const T*, const T*, int64_t, int64_t, int64_t, Transposed, T, T*);                       \
  template void multiply(const Complex<T>*, const Complex<T>*, int64_t, int64_t, int64_t, Transposed, Complex<T>, \
                         Complex<T>*);
PM_MATRIX_FUNCTIONS(float)
PM_MATRIX_FUNCTIONS(double)
#undef PM_MATRIX_FUNCTIONS

}  // namespace paddle_mini

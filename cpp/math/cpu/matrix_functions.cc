// Functions of one matrix by Eigen's decompositions.
#include "math/cpu/matrix_functions.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace paddle_mini {
namespace {

// Eigen's number for one of ours.
template <class T>
struct EigenNumber {
  using Type = T;
};
template <class T>
struct EigenNumber<Complex<T>> {
  using Type = std::complex<T>;
};

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Read = Eigen::Map<const Matrix<T>>;
template <class T>
using Write = Eigen::Map<Matrix<T>>;

// A matrix with NaN is not refused: results are NaN then.
template <class T>
bool has_zero_pivot(const Eigen::PartialPivLU<Matrix<T>>& lu) {
  return (lu.matrixLU().diagonal().array() == T(0)).any();
}

// Calls f with a triangular view of the matrix, transposed if wanted.
template <class T, class F>
void with_triangle(const Read<T>& a, Triangle triangle, F f) {
  auto by_diagonal = [&](const auto& matrix, bool upper) {
    if (upper && triangle.unit) f(matrix.template triangularView<Eigen::UnitUpper>());
    else if (upper) f(matrix.template triangularView<Eigen::Upper>());
    else if (triangle.unit) f(matrix.template triangularView<Eigen::UnitLower>());
    else f(matrix.template triangularView<Eigen::Lower>());
  };
  if (triangle.transposed) by_diagonal(a.transpose(), !triangle.upper);
  else by_diagonal(a, triangle.upper);
}

}  // namespace

template <class T>
T Determinant<T>::value() const {
  return sign == T(0) ? T(0) : sign * std::exp(log);
}

template <class T>
Determinant<T> determinant_of(const T* a, int64_t n) {
  if (n == 0) return {T(1), T(0)};
  Eigen::PartialPivLU<Matrix<T>> lu(Read<T>(a, n, n));
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
  if (n == 0) return true;
  Eigen::PartialPivLU<Matrix<T>> lu(Read<T>(a, n, n));
  if (has_zero_pivot(lu)) return false;
  Write<T>(out, n, n) = lu.inverse();
  return true;
}

template <class T>
bool solve_system(const T* a, int64_t n, const T* b, int64_t columns, bool transposed, T* out) {
  if (n == 0) return true;
  Eigen::PartialPivLU<Matrix<T>> lu(Read<T>(a, n, n));
  if (has_zero_pivot(lu)) return false;
  if (transposed) Write<T>(out, n, columns) = lu.transpose().solve(Read<T>(b, n, columns));
  else Write<T>(out, n, columns) = lu.solve(Read<T>(b, n, columns));
  return true;
}

template <class T>
bool solve_triangle(const T* a, int64_t n, const T* b, int64_t columns, Triangle triangle, T* out) {
  Read<T> matrix(a, n, n);
  if (!triangle.unit && (matrix.diagonal().array() == T(0)).any()) return false;
  Write<T> result(out, n, columns);
  result = Read<T>(b, n, columns);
  with_triangle<T>(matrix, triangle, [&](const auto& view) { view.solveInPlace(result); });
  return true;
}

template <class T>
bool cholesky_factor(const T* a, int64_t n, bool upper, T* out) {
  Read<T> matrix(a, n, n);
  Write<T> factor(out, n, n);
  if (upper) {
    Eigen::LLT<Matrix<T>, Eigen::Upper> llt(matrix);
    factor = llt.matrixU();
    return llt.info() == Eigen::Success;
  }
  Eigen::LLT<Matrix<T>, Eigen::Lower> llt(matrix);
  factor = llt.matrixL();
  return llt.info() == Eigen::Success;
}

// With S = the lower triangle of L^T G with half of its diagonal: L^-T (S + S^T) L^-1 / 2 (Murray, Differentiation of the
// Cholesky decomposition, 2016).
template <class T>
void cholesky_gradient(const T* factor, const T* factor_gradient, int64_t n, bool upper, T* gradient) {
  Matrix<T> l = Read<T>(factor, n, n), g = Read<T>(factor_gradient, n, n);
  if (upper) l.transposeInPlace(), g.transposeInPlace();
  Matrix<T> half = l.template triangularView<Eigen::Lower>().transpose() * g;
  half.diagonal() *= T(0.5);
  Matrix<T> lower = half.template triangularView<Eigen::Lower>();
  Matrix<T> middle = (lower + lower.transpose()) * T(0.5);
  auto transposed = l.template triangularView<Eigen::Lower>().transpose();
  transposed.solveInPlace(middle);
  Matrix<T> right = middle.transpose();
  transposed.solveInPlace(right);
  Write<T>(gradient, n, n) = right.transpose();
}

template <class T>
void multiply(const T* a, const T* b, int64_t rows, int64_t inner, int64_t columns, Transposed transposed, T scale,
              T* out) {
  using Number = typename EigenNumber<T>::Type;
  Read<Number> left(reinterpret_cast<const Number*>(a), transposed.a ? inner : rows, transposed.a ? rows : inner);
  Read<Number> right(reinterpret_cast<const Number*>(b), transposed.b ? columns : inner,
                     transposed.b ? inner : columns);
  Write<Number> product(reinterpret_cast<Number*>(out), rows, columns);
  Number factor;
  if constexpr (is_complex_number<T>) factor = Number(scale.real, scale.imag);
  else factor = scale;
  if (transposed.a && transposed.b) product.noalias() = factor * left.adjoint() * right.adjoint();
  else if (transposed.a) product.noalias() = factor * left.adjoint() * right;
  else if (transposed.b) product.noalias() = factor * left * right.adjoint();
  else product.noalias() = factor * left * right;
}

template <class T>
bool symmetric_eigen(const T* a, int64_t n, bool upper, real_part_of<T>* values, T* vectors) {
  using Number = typename EigenNumber<T>::Type;
  if (n == 0) return true;
  Matrix<Number> matrix = Read<Number>(reinterpret_cast<const Number*>(a), n, n);
  if (upper) matrix.adjointInPlace();
  Eigen::SelfAdjointEigenSolver<Matrix<Number>> solver(matrix);  // reads the lower triangle
  if (solver.info() != Eigen::Success) return false;
  Eigen::Map<Eigen::Matrix<real_part_of<T>, Eigen::Dynamic, 1>>(values, n) = solver.eigenvalues();
  Write<Number>(reinterpret_cast<Number*>(vectors), n, n) = solver.eigenvectors();
  return true;
}

#define PM_MATRIX_FUNCTIONS(T)                                                      \
  template struct Determinant<T>;                                                   \
  template Determinant<T> determinant_of(const T*, int64_t);                        \
  template bool invert(const T*, int64_t, T*);                                      \
  template bool solve_system(const T*, int64_t, const T*, int64_t, bool, T*);       \
  template bool solve_triangle(const T*, int64_t, const T*, int64_t, Triangle, T*); \
  template bool cholesky_factor(const T*, int64_t, bool, T*);                       \
  template void cholesky_gradient(const T*, const T*, int64_t, bool, T*);           \
  PM_COMPLEX_MATRIX_FUNCTIONS(T)                                                    \
  PM_COMPLEX_MATRIX_FUNCTIONS(Complex<T>)
#define PM_COMPLEX_MATRIX_FUNCTIONS(T)                                                      \
  template void multiply(const T*, const T*, int64_t, int64_t, int64_t, Transposed, T, T*); \
  template bool symmetric_eigen(const T*, int64_t, bool, real_part_of<T>*, T*);
PM_MATRIX_FUNCTIONS(float)
PM_MATRIX_FUNCTIONS(double)
#undef PM_MATRIX_FUNCTIONS
#undef PM_COMPLEX_MATRIX_FUNCTIONS

}  // namespace paddle_mini

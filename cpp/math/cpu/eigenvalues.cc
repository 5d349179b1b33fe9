// Eigenvalues by Eigen's solvers.
#include "math/cpu/eigenvalues.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <complex>
#include <limits>

namespace paddle_mini {
namespace {

// All numbers are computed as double: the iterations work on single elements, so float would gain little, and each type
// takes 15 s to compile; columns are contiguous, since Eigen's solvers compile twice as much for rows. Results are in
// Eigen's own memory, which is aligned: in other memory the order of its sums depends on the address.
template <class Number>
using Matrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
template <class Number>
using Rows = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ComplexMatrix = Matrix<std::complex<double>>;

template <class T>
ComplexMatrix read(const Complex<T>* a, int64_t rows, int64_t columns) {
  return Eigen::Map<const Rows<std::complex<T>>>(reinterpret_cast<const std::complex<T>*>(a), rows, columns)
      .template cast<std::complex<double>>();
}
template <class T>
Matrix<double> read(const T* a, int64_t rows, int64_t columns) {
  return Eigen::Map<const Rows<T>>(a, rows, columns).template cast<double>();
}
template <class T>
void write(const ComplexMatrix& from, Complex<T>* to) {
  Eigen::Map<Rows<std::complex<T>>>(reinterpret_cast<std::complex<T>*>(to), from.rows(), from.cols()) =
      from.template cast<std::complex<T>>();
}
template <class T>
void write(const Matrix<double>& from, T* to) {
  Eigen::Map<Rows<T>>(to, from.rows(), from.cols()) = from.template cast<T>();
}

Eigen::EigenSolver<Matrix<double>> solver_of(const Matrix<double>& matrix, bool vectors) {
  return Eigen::EigenSolver<Matrix<double>>(matrix, vectors);
}
Eigen::ComplexEigenSolver<ComplexMatrix> solver_of(const ComplexMatrix& matrix, bool vectors) {
  return Eigen::ComplexEigenSolver<ComplexMatrix>(matrix, vectors);
}

// Scales each vector to length 1, and turns that of a complex value so that its largest element is real.
void normalize(const ComplexMatrix& values, bool real_matrix, ComplexMatrix& vectors) {
  vectors.colwise().normalize();
  for (int64_t k = 0; k < vectors.cols(); ++k) {
    if (real_matrix && values(k).imag() == 0) continue;
    Eigen::Index largest = 0;
    double length = vectors.col(k).cwiseAbs().maxCoeff(&largest);
    if (length == 0) continue;
    vectors.col(k) *= std::conj(vectors(largest, k)) / length;
    vectors(largest, k) = length;
  }
}

}  // namespace

template <class Number>
bool symmetric_eigen(const Number* a, int64_t n, bool upper, real_part_of<Number>* values, Number* vectors) {
  if (n == 0) return true;
  auto matrix = read(a, n, n);
  if (upper) matrix.adjointInPlace();
  Eigen::SelfAdjointEigenSolver<decltype(matrix)> solver(matrix);  // reads the lower triangle
  if (solver.info() != Eigen::Success) return false;
  matrix = solver.eigenvectors();
  write(solver.eigenvalues(), values);
  write(matrix, vectors);
  return true;
}

template <class Number>
bool general_eigen(const Number* a, int64_t n, Complex<real_part_of<Number>>* values,
                   Complex<real_part_of<Number>>* vectors) {
  if (n == 0) return true;
  auto matrix = read(a, n, n);
  if (!matrix.allFinite()) return false;
  auto solver = solver_of(matrix, vectors != nullptr);
  if (solver.info() != Eigen::Success) return false;
  ComplexMatrix w = solver.eigenvalues();
  write(w, values);
  if (!vectors) return true;
  ComplexMatrix v = solver.eigenvectors();
  normalize(w, !is_complex_number<Number>, v);
  write(v, vectors);
  return true;
}

// V^-H (diagonal(w') + (V^H V' - V^H V diagonal(Re(V^H V'))) / conj(w[j] - w[i])) V^H, where the quotient is of elements
// beside the diagonal: vectors of length 1 change at right angles to themselves.
template <class T>
bool general_eigen_gradient(const Complex<T>* values, const Complex<T>* vectors, const Complex<T>* values_gradient,
                            const Complex<T>* vectors_gradient, int64_t n, Complex<T>* gradient) {
  if (n == 0) return true;
  ComplexMatrix w = read(values, n, 1), w_gradient = read(values_gradient, n, 1);
  ComplexMatrix v = read(vectors, n, n), v_gradient = read(vectors_gradient, n, n);
  ComplexMatrix adjoint = v.adjoint(), inner = adjoint * v_gradient, overlap = adjoint * v;
  ComplexMatrix lengths = inner.diagonal().real().cast<std::complex<double>>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      std::complex<double> across = inner(i, j) - overlap(i, j) * lengths(j);
      if (i == j) inner(i, j) = w_gradient(i);
      else inner(i, j) = values[i] == values[j] || across == 0.0 ? 0.0 : across / std::conj(w(j) - w(i));
    }
  }
  Eigen::FullPivLU<ComplexMatrix> lu(adjoint);
  lu.setThreshold(std::numeric_limits<T>::epsilon() * static_cast<T>(n));
  if (!lu.isInvertible()) return false;
  ComplexMatrix right = inner * adjoint;
  write<T>(lu.solve(right), gradient);
  return true;
}

#define PM_EIGENVALUES(T)                                                                                          \
  template bool symmetric_eigen(const T*, int64_t, bool, T*, T*);                                                  \
  template bool symmetric_eigen(const Complex<T>*, int64_t, bool, T*, Complex<T>*);                                \
  template bool general_eigen(const T*, int64_t, Complex<T>*, Complex<T>*);                                        \
  template bool general_eigen(const Complex<T>*, int64_t, Complex<T>*, Complex<T>*);                               \
  template bool general_eigen_gradient(const Complex<T>*, const Complex<T>*, const Complex<T>*, const Complex<T>*, \
                                       int64_t, Complex<T>*);
PM_EIGENVALUES(float)
PM_EIGENVALUES(double)
#undef PM_EIGENVALUES

}  // namespace paddle_mini

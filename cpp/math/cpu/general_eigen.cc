// Eigenvalues of general matrices by Eigen's decompositions.
#include "math/cpu/general_eigen.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace paddle_mini {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ComplexMatrix = Matrix<std::complex<T>>;
template <class T>
using ReadComplex = Eigen::Map<const ComplexMatrix<T>>;
template <class T>
using WriteComplex = Eigen::Map<ComplexMatrix<T>>;

// Eigen's number and solver for one of ours.
template <class T>
struct Solver {
  using Number = T;
  using Type = Eigen::EigenSolver<Matrix<T>>;
};
template <class T>
struct Solver<Complex<T>> {
  using Number = std::complex<T>;
  using Type = Eigen::ComplexEigenSolver<ComplexMatrix<T>>;
};

template <class T>
const std::complex<T>* standard(const Complex<T>* numbers) {
  return reinterpret_cast<const std::complex<T>*>(numbers);
}
template <class T>
std::complex<T>* standard(Complex<T>* numbers) {
  return reinterpret_cast<std::complex<T>*>(numbers);
}

}  // namespace

template <class Number>
bool general_eigen(const Number* a, int64_t n, Complex<real_part_of<Number>>* values,
                   Complex<real_part_of<Number>>* vectors) {
  using T = real_part_of<Number>;
  using Own = typename Solver<Number>::Number;
  if (n == 0) return true;
  Eigen::Map<const Matrix<Own>> matrix(reinterpret_cast<const Own*>(a), n, n);
  if (!matrix.allFinite()) return false;
  typename Solver<Number>::Type solver(matrix, vectors != nullptr);
  if (solver.info() != Eigen::Success) return false;
  Eigen::Map<Eigen::Matrix<std::complex<T>, Eigen::Dynamic, 1>> w(standard(values), n);
  w = solver.eigenvalues();
  if (!vectors) return true;
  WriteComplex<T> v(standard(vectors), n, n);
  v = solver.eigenvectors();
  v.colwise().normalize();
  for (int64_t k = 0; k < n; ++k) {
    if (std::is_same_v<Number, T> && w(k).imag() == T(0)) continue;
    Eigen::Index largest = 0;
    T length = v.col(k).cwiseAbs().maxCoeff(&largest);
    if (length == T(0)) continue;
    v.col(k) *= std::conj(v(largest, k)) / length;
    v(largest, k) = length;
  }
  return true;
}

// V^-H (diagonal(w') + (V^H V' - V^H V diagonal(Re(V^H V'))) / conj(w[j] - w[i])) V^H, where the quotient is of elements
// beside the diagonal: vectors of length 1 change at right angles to themselves.
template <class T>
bool general_eigen_gradient(const Complex<T>* values, const Complex<T>* vectors, const Complex<T>* values_gradient,
                            const Complex<T>* vectors_gradient, int64_t n, Complex<T>* gradient) {
  if (n == 0) return true;
  ReadComplex<T> v(standard(vectors), n, n), v_gradient(standard(vectors_gradient), n, n);
  const std::complex<T>*w = standard(values), *w_gradient = standard(values_gradient);
  ComplexMatrix<T> inner = v.adjoint() * v_gradient, overlap = v.adjoint() * v;
  Eigen::Matrix<std::complex<T>, Eigen::Dynamic, 1> lengths = inner.diagonal().real().template cast<std::complex<T>>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      std::complex<T> across = inner(i, j) - overlap(i, j) * lengths(j);
      if (i == j) inner(i, j) = w_gradient[i];
      else inner(i, j) = w[i] == w[j] || across == T(0) ? T(0) : across / std::conj(w[j] - w[i]);
    }
  }
  Eigen::FullPivLU<ComplexMatrix<T>> lu(v.adjoint());
  if (!lu.isInvertible()) return false;
  WriteComplex<T>(standard(gradient), n, n) = lu.solve(inner * v.adjoint());
  return true;
}

#define PM_GENERAL_EIGEN(T)                                                                                        \
  template bool general_eigen(const T*, int64_t, Complex<T>*, Complex<T>*);                                        \
  template bool general_eigen(const Complex<T>*, int64_t, Complex<T>*, Complex<T>*);                               \
  template bool general_eigen_gradient(const Complex<T>*, const Complex<T>*, const Complex<T>*, const Complex<T>*, \
                                       int64_t, Complex<T>*);
PM_GENERAL_EIGEN(float)
PM_GENERAL_EIGEN(double)
#undef PM_GENERAL_EIGEN

}  // namespace paddle_mini

// Eigenvalues and eigenvectors of one row-major matrix of real or complex numbers. Only eigenvalues.cc instantiates Eigen's
// solvers, which compute in double and allocate their work memory.
#pragma once

#include <cstdint>

#include "math/complex.h"

namespace paddle_mini {

// Eigenvalues in ascending order and, in columns, eigenvectors of a symmetric, or complex Hermitian, matrix, of which only
// one triangle is read. False if the iteration does not converge, which happens for NaN and infinities.
template <class Number>
bool symmetric_eigen(const Number* a, int64_t n, bool upper, real_part_of<Number>* values, Number* vectors);

// Those of a matrix that need not be symmetric. Number is T or Complex<T>. Vectors, in columns, have length 1, and their
// largest element is real if the value is complex, as in LAPACK; nullptr: only values are wanted. False if the iteration
// does not converge, which happens for NaN and infinities.
template <class Number>
bool general_eigen(const Number* a, int64_t n, Complex<real_part_of<Number>>* values,
                   Complex<real_part_of<Number>>* vectors);

// The gradient of the matrix for those of its values and vectors. False if the vectors are not independent.
template <class T>
bool general_eigen_gradient(const Complex<T>* values, const Complex<T>* vectors, const Complex<T>* values_gradient,
                            const Complex<T>* vectors_gradient, int64_t n, Complex<T>* gradient);

}  // namespace paddle_mini

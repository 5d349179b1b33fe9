// Eigenvalues and eigenvectors of one row-major matrix that need not be symmetric. Only general_eigen.cc instantiates
// Eigen's decompositions, for real and complex matrices of float and double parts.
#pragma once

#include <cstdint>

#include "math/complex.h"

namespace paddle_mini {

// Number is T or Complex<T>. Vectors, in columns, have length 1, and their largest element is real if the value is
// complex, as in LAPACK; nullptr: only values are wanted. False if the iteration does not converge, which happens for NaN
// and infinities.
template <class Number>
bool general_eigen(const Number* a, int64_t n, Complex<real_part_of<Number>>* values,
                   Complex<real_part_of<Number>>* vectors);

// The gradient of the matrix for those of its values and vectors. False if the vectors are not independent.
template <class T>
bool general_eigen_gradient(const Complex<T>* values, const Complex<T>* vectors, const Complex<T>* values_gradient,
                            const Complex<T>* vectors_gradient, int64_t n, Complex<T>* gradient);

}  // namespace paddle_mini

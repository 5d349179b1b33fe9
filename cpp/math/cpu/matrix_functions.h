// Functions of one row-major matrix: inverse, determinant, factors and solutions. Only matrix_functions.cc instantiates
// Eigen's decompositions, for float and double; they allocate their work memory.
#pragma once

#include <cstdint>

#include "math/complex.h"

namespace paddle_mini {

// The sign and the logarithm of the absolute value; 0 and -inf for a singular matrix.
template <class T>
struct Determinant {
  T sign, log;
  T value() const;
};
template <class T>
Determinant<T> determinant_of(const T* a, int64_t n);

// out = a^-1; false, without a result, if a pivot of the LU decomposition is 0.
template <class T>
bool invert(const T* a, int64_t n, T* out);

// out = a^-1 b, or (a^T)^-1 b; b and out are [n, columns]. False if a pivot is 0.
template <class T>
bool solve_system(const T* a, int64_t n, const T* b, int64_t columns, bool transposed, T* out);

struct Triangle {
  bool upper, transposed, unit;  // the rest of the matrix is not read; unit: its diagonal is taken as ones
};
// The same for a triangular matrix. False if an element of its diagonal is 0.
template <class T>
bool solve_triangle(const T* a, int64_t n, const T* b, int64_t columns, Triangle triangle, T* out);

// out = L with L L^T = a, or U with U^T U = a; only this triangle of a is read. False if a is not positive definite.
template <class T>
bool cholesky_factor(const T* a, int64_t n, bool upper, T* out);
// The symmetric gradient of a for the factor and its gradient.
template <class T>
void cholesky_gradient(const T* factor, const T* factor_gradient, int64_t n, bool upper, T* gradient);

// out = a b, [rows, inner] and [inner, columns], of transposed matrices where this is stated, with conjugates if they are
// complex, times scale. T may be complex.
struct Transposed {
  bool a = false, b = false;
};
template <class T>
void multiply(const T* a, const T* b, int64_t rows, int64_t inner, int64_t columns, Transposed transposed, T scale,
              T* out);

// a [rows, columns] = Q R by Householder reflections, with LAPACK's signs: Q has the first q_columns columns, R the first
// r_rows rows. q may be nullptr.
template <class T>
void qr_factors(const T* a, int64_t rows, int64_t columns, int64_t q_columns, T* q, int64_t r_rows, T* r);

}  // namespace paddle_mini

// Decompositions of one row-major matrix into orthogonal factors. Only orthogonal_factors.cc
// instantiates Eigen's, for float and double; it allocates its work memory.
#pragma once

#include <cstdint>

namespace paddle_mini {

// a [rows, columns] = Q R by Householder reflections, with LAPACK's signs: Q has the first q_columns columns, R the first
// r_rows rows. q may be nullptr.
template <class T>
void qr_factors(const T* a, int64_t rows, int64_t columns, int64_t q_columns, T* q, int64_t r_rows, T* r);

}  // namespace paddle_mini

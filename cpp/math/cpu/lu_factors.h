// The LU decomposition of one row-major matrix with row exchanges, and its gradient.
#pragma once

#include <cstdint>

namespace paddle_mini {

// a [rows, columns] becomes L without its diagonal of ones, and U, in place: after the exchanges of row i with row
// pivots[i] - 1, in this order, the rows of a are those of L U. Returns the number, from 1, of the first pivot that is 0, or 0.
template <class T>
int32_t lu_factors(T* a, int64_t rows, int64_t columns, int32_t* pivots);

// The gradient of a from that of the factors; both are read as one matrix, as above. NaN for a U that is singular.
template <class T>
void lu_gradient(const T* factors, const T* factors_gradient, int64_t rows, int64_t columns, const int32_t* pivots,
                 T* gradient);

}  // namespace paddle_mini

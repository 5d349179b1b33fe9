// The singular value decomposition of one row-major matrix. Only singular_values.cc instantiates it, for float and double; it
// allocates its work memory.
#pragma once

#include <cstdint>

namespace paddle_mini {

// a [rows, columns] = U diagonal(s) VH, with k = min(rows, columns) singular values in descending order. U is [rows, k] and VH
// [k, columns]; with `full` they are square, and their additional vectors complete an orthonormal basis. The signs of the
// vectors are not defined. u and vh may both be nullptr. False, without a result, if an element of a is not finite.
template <class T>
bool singular_decomposition(const T* a, int64_t rows, int64_t columns, bool full, T* u, T* s, T* vh);

}  // namespace paddle_mini

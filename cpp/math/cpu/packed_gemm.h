// PackedGemm: products with a matrix that is packed once and used many times, such as the weights of a recurrent layer.
#pragma once

#include "core/kernel.h"

#include <cstdint>

namespace paddle_mini {

// C = A B, or C += A B, with A [m, k], B [k, n], C [m, n], row-major. B is packed into panels of a few
// registers, padded with zeros, so that the inner loop reads it sequentially.
template <class T>
struct PackedGemm {
  int64_t k = 0, n = 0;

  int64_t packed_size() const;  // elements of the packed B
  // B[i][j] is b[i * ldb + j], or b[j * ldb + i] if it is stored transposed.
  void pack(const T* b, int64_t ldb, bool transposed, T* packed) const;

  // A[i][l] is a[i * lda + l]. Large B are split among threads.
  void run(KernelContext& context, int64_t m, const T* a, int64_t lda, const T* packed, T* c, int64_t ldc,
           bool add) const;
};

extern template struct PackedGemm<float>;
extern template struct PackedGemm<double>;

}  // namespace paddle_mini

// Products of matrices by NVIDIA's cuBLAS, where this machine has it: it is looked for when the first product runs.
#pragma once

#include <cstdint>
#include <string>

#include "core/kernel.h"

namespace paddle_mini {

// count products C = alpha op(A) op(B) + beta C, row-major; the steps are distances from product to product.
template <class T>
struct MatrixProducts {
  bool transpose_a, transpose_b;
  int64_t m, n, k, lda, ldb, ldc;
  T alpha, beta;
  const T *a, *b;
  T* c;
  int64_t count, step_a, step_b, step_c;
};

// False where there is no cuBLAS, or it can't: then nothing has been done.
template <class T>
bool run_by_cublas(Device& device, const MatrixProducts<T>& products);

std::string cublas_description();  // "cuBLAS of /usr/lib/libcublas.so.13", or "no cuBLAS"

}  // namespace paddle_mini

// Matrix products by NVIDIA's cuBLAS, if the machine has it. The first product loads it.
#pragma once

#include <cstdint>
#include <string>

#include "core/kernel.h"

namespace paddle_mini {

// Describes count products C = alpha op(A) op(B) + beta C, row-major; the steps are the distances between consecutive
// products.
template <class T>
struct MatrixProducts {
  bool transpose_a, transpose_b;
  int64_t m, n, k, lda, ldb, ldc;
  T alpha, beta;
  const T *a, *b;
  T* c;
  int64_t count, step_a, step_b, step_c;
};

// Returns false, without any effect, if cuBLAS is missing or does not support the products.
template <class T>
bool run_by_cublas(KernelContext& context, const MatrixProducts<T>& products);

std::string cublas_description();  // "cuBLAS of /usr/lib/libcublas.so.13", or "no cuBLAS"

}  // namespace paddle_mini
